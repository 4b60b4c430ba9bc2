package web

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/hosts"
)

// Fleet is a study that runs of several hosts in one folder measured.
type Fleet struct {
	Folder string `json:"folder"`
	Study  string `json:"study"`
	Title  string `json:"title,omitempty"`
	Scale  string `json:"scale,omitempty"`
	Hosts  int    `json:"hosts"`
	// Runs are the ids of their runs, in the order of their names.
	Runs []string `json:"runs"`
	// Page is the address of what they say together.
	Page string `json:"page"`

	by hosts.By
}

// fleets finds the studies of which several hosts have runs in one folder. Hosts are told
// apart as plimsoll report does it.
func fleets(runs []Summary, folders []folder) (out []Fleet) {
	for _, f := range folders {
		var of [][]Summary
		for _, r := range runs {
			if r.Folder != f.ID || r.Status == broken || r.command != "" {
				continue
			}
			at := slices.IndexFunc(of, func(x []Summary) bool { return x[0].Study == r.Study && x[0].Scale == r.Scale })
			if at < 0 {
				of = append(of, nil)
				at = len(of) - 1
			}
			of[at] = append(of[at], r)
		}
		for _, x := range of {
			if fleet := fleetOf(f, x); fleet.Hosts > 1 {
				out = append(out, fleet)
			}
		}
	}
	return out
}

func fleetOf(f folder, runs []Summary) Fleet {
	runs = slices.Clone(runs)
	slices.SortStableFunc(runs, func(a, b Summary) int { return strings.Compare(a.Name, b.Name) })
	out := Fleet{Folder: f.ID, Study: runs[0].Study, Title: runs[0].Title, Scale: runs[0].Scale, Runs: []string{}}
	var machines []record.Host
	var dirs []string
	for _, r := range runs {
		out.Runs, machines, dirs = append(out.Runs, r.ID), append(machines, r.host), append(dirs, filepath.Join(f.path, r.Name))
	}
	out.by, out.Hosts = hosts.Told(machines, dirs)
	q := url.Values{"dir": {f.ID}, "study": {out.Study}}
	if out.Scale != "" {
		q.Set("scale", out.Scale)
	}
	out.Page = "/hosts?" + q.Encode()
	return out
}
