//go:build linux

package cli

import (
	"math"
	"slices"
	"testing"

	"plimsoll/internal/common/published"
	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/findings"
	"plimsoll/internal/understand/analyze/sample"
)

// The authors' own measurements of everarts2020, judged as if they were a run of the
// study, have each of its claims: a rule that their data don't bear is stricter than the
// paper's sentence. What they measured on Alpine and on CentOS is two runs where the
// study has one image, that of the database.
func TestClaimsOnTheirData(t *testing.T) {
	s, err := newSetting(System())
	require.NoError(t, err)
	st, err := study.Load("everarts2020", s.studyCatalogue())
	require.NoError(t, err)
	for _, image := range []string{"alpine", "centos"} {
		found := findings.Judge([]*analyze.Result{theirRun(image)}, st.Claims, nil)
		for i, c := range found.Claims {
			if c.Verdict == analyze.ClaimContradicted || c.Partly || len(c.Pairs) < 2 {
				t.Errorf("%s, the database on %s: %s, %d pairs, in part: %v: %s", c.ID, image, c.Verdict, len(c.Pairs), c.Partly, c.Reason)
			}
			for _, p := range c.Pairs {
				if e := p.Estimate; e == nil || e.Lo == nil || !st.Claims[i].Tests[p.Test-1].Ratio.Holds(e.Value) {
					t.Errorf("%s, the database on %s: %s is %+v, and the claim states %s", c.ID, image, p.Title(), e, p.Range)
				}
			}
		}
	}
}

// theirWorkloads are ours that stand for theirs.
var theirWorkloads = map[string]string{"Hello World": "echo", "Database write": "image-database-write", "IO read": "image-files-read", "IO write": "image-files-unpack"}

// theirFiles are how many files a size has.
var theirFiles = map[string]string{"xs": "10", "sm": "100", "md": "1000", "lg": "10000", "xl": "100000"}

// theirRun makes a result of the authors' data: a repetition stands for a block.
func theirRun(databaseOn string) *analyze.Result {
	r := &analyze.Result{Run: analyze.RunInfo{ID: "theirs"}}
	for _, work := range []string{"echo", "image-database-write", "image-files-read", "image-files-unpack"} {
		w := analyze.Workload{ID: work, Name: work, Params: map[string]string{"started-by": "exec"}}
		for _, m := range []string{"create", "start-command", "exec-command", "create-and-start"} {
			w.Tables = append(w.Tables, analyze.Table{Metric: record.Metric{ID: m, Unit: "ns", Better: record.LowerIsBetter}})
		}
		r.Workloads = append(r.Workloads, w)
	}
	for _, row := range published.EverartsData() {
		work := theirWorkloads[row.Workload]
		if work == "" || work == "image-database-write" && row.Image != databaseOn {
			continue
		}
		env := theirEnvironment(row, work)
		if r.Environment(env.ID) == nil {
			r.Environments = append(r.Environments, env)
		}
		w := &r.Workloads[slices.IndexFunc(r.Workloads, func(w analyze.Workload) bool { return w.ID == work })]
		for i, v := range []float64{row.Create, row.Start, row.Exec, row.Create + row.Start} {
			put(&w.Tables[i], env.ID, row.Number, v)
		}
	}
	return r
}

// put adds a value to a cell, in the place of its block.
func put(t *analyze.Table, env string, block int, value float64) {
	c := t.Cell(env)
	if c == nil {
		t.Cells = append(t.Cells, analyze.Cell{Env: env})
		c = &t.Cells[len(t.Cells)-1]
	}
	for len(c.ByBlock) < block {
		c.ByBlock = append(c.ByBlock, math.NaN())
	}
	if math.IsNaN(value) {
		return
	}
	c.ByBlock[block-1], c.Medians = value, append(c.Medians, value)
	c.Median = &sample.Estimate{Value: value} // it only has to be there
}

// theirEnvironment is a configuration of theirs in the study's levels, with the image
// that has the workload's data.
func theirEnvironment(r published.Repetition, work string) record.Environment {
	e := record.Environment{Engine: r.Manager, Levels: map[string]string{"storage": r.Storage, "runtime": r.Runtime}}
	base := map[string]string{"alpine": "busybox", "centos": "debian"}[r.Image]
	switch work {
	case "echo":
		e.Levels["image"] = map[string]string{"alpine": "alpine:3", "centos": "centos:8"}[r.Image]
	case "image-database-write":
		e.Levels["image"] = "plimsoll/database-" + r.Size + ":toolbox"
	case "image-files-read":
		e.Levels["image"] = "plimsoll/files-" + theirFiles[r.Size] + ":" + base
	default:
		e.Levels["image"] = "plimsoll/archive-" + theirFiles[r.Size] + ":" + base
	}
	switch {
	case r.Manager == "lxd":
		delete(e.Levels, "runtime")
	case r.Manager == "docker" && r.Storage == "overlay":
		e.Levels["storage"] = "overlay2"
	case r.Manager == "podman":
		e.Levels["rootless"] = map[bool]string{true: "yes", false: "no"}[r.Rootless]
		// Without root theirs is fuse-overlayfs. Of creation alone it is compared with overlay.
		if r.Rootless && r.Storage == "overlay" && work != "echo" {
			e.Levels["storage"] = "fuse-overlayfs"
		}
	}
	if r.Runtime == "kata-runtime" {
		e.Levels["runtime"] = "kata-qemu"
	}
	e.ID = e.Engine
	for _, f := range []string{"runtime", "storage", "rootless", "image"} {
		e.ID += "/" + e.Levels[f]
	}
	return e
}
