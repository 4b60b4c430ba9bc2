package hosts

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
)

// together remarks on hosts that are one machine under several names.
func (h *Hosts) together() {
	machines := lists.Map(h.Hosts, func(x Host) record.Host { return x.Machine })
	if n := Count(machines, ByMachine); n < len(h.Hosts) {
		h.Remark = append(h.Remark, record.Remark{Code: "hosts-together", Level: "warn",
			Text:   fmt.Sprintf("the %d hosts are told apart by their names; according to the records, the number of machines is %d: how much machines differ is not in this", len(h.Hosts), n),
			Advice: "plimsoll report --host-by machine takes containers of one machine for one host"})
	}
}

// onItself is the way to the engines of a run that was measured on their machine.
const onItself = "on the machine itself"

// reached notes in what way each environment of a run was reached. What the run could not
// open was not.
func (h *gathered) reached(envs []record.Environment) {
	if h.ways == nil {
		h.ways = map[string][]string{}
	}
	for _, e := range envs {
		if e.Baseline == "" && len(e.Facts) > 0 {
			h.ways[e.ID] = analyze.Also(h.ways[e.ID], cmp.Or(e.Facts["reached"], onItself))
		}
	}
}

// ways remarks on hosts whose engines were reached in several ways: the way is in each of
// their times.
func (h *Hosts) ways(all []*gathered) {
	for _, x := range all {
		for _, id := range slices.Sorted(maps.Keys(x.ways)) {
			ways := x.ways[id]
			if len(ways) < 2 {
				continue
			}
			h.Remark = append(h.Remark, record.Remark{Code: "ways-together", Level: "warn",
				Text:   fmt.Sprintf("%s has runs that reached its engines in several ways (%s: %s): the way is in every time, and their times are pooled", x.Label, id, strings.Join(ways, "; ")),
				Advice: "plimsoll report --each shows the runs one by one"})
			break // once for each host
		}
	}
}

// unfinished remarks on runs that are not done; resume says how one is gone on with.
func (h *Hosts) unfinished(resume func(dir string) string) {
	for _, x := range h.Hosts {
		for _, r := range x.Runs {
			if r.Status != "interrupted" && r.Status != "running" {
				continue
			}
			advice := ""
			if resume != nil {
				advice = resume(r.Dir)
			}
			h.Remark = append(h.Remark, record.Remark{Code: "host-unfinished", Level: "warn",
				Text: fmt.Sprintf("the run on %s is not finished (%s): what it has is in the table", x.Label, r.Status), Advice: advice})
		}
	}
}
