package study

import (
	"fmt"
	"slices"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

// claimed is a plan of three parts whose claims need two of the cells.
func claimed(t *testing.T, change string) *Plan {
	t.Helper()
	p := mustExpand(t, `plimsoll: 1
name: t
protocol: {blocks: 8, warmup: 1, until: claims`+change+`}
baselines: [native, floor]
parts:
  - name: starts
    workloads: [hello]
    environments: [docker, podman, charliecloud]
  - name: stops
    blocks: 3
    workloads: [{name: stop, parameters: {on-term: [exit, ignore]}}]
    environments: [docker, podman]
`, Options{})
	return p
}

func needsDocker(e *record.Environment, w *record.Workload) bool {
	return e.Engine == "docker" && w.ID != "stop/ignore"
}

// Between two looks each cell that claims need is in as many times more blocks as
// the look has, and always beside the others; what no claim needs ends with the
// fixed blocks. The places of the trials follow from the record alone.
func TestFurtherBlocks(t *testing.T) {
	p := claimed(t, "")
	p.ForClaims(needsDocker)
	if !slices.Equal(p.Protocol.ClaimLooks, []int{8, 16, 32}) || p.Protocol.Blocks != 32 || p.Protocol.Fixed() != 8 {
		t.Fatalf("%+v", p.Protocol)
	}
	in := map[string][]int{}
	for i, tr := 0, (Trial{}); i < p.Trials(); i++ {
		if tr = p.Trial(i); !tr.Warmup {
			id := tr.Env.ID + " " + tr.Workload.ID
			in[id] = append(in[id], tr.Block-p.Protocol.Warmup)
		}
	}
	seq := func(spans ...int) (out []int) {
		for i := 0; i < len(spans); i += 2 {
			for b := spans[i]; b < spans[i+1]; b++ {
				out = append(out, b)
			}
		}
		return out
	}
	for id, want := range map[string][]int{
		"docker hello":       seq(0, 32),
		"docker stop/exit":   seq(0, 3, 8, 11, 16, 22),
		"podman hello":       seq(0, 8),
		"docker stop/ignore": seq(0, 3),
	} {
		if !slices.Equal(in[id], want) {
			t.Errorf("%s is in the blocks %v, not %v", id, in[id], want)
		}
	}
	for i := range p.Cells {
		id := p.Environments[p.Cells[i].Env].ID + " " + p.Workloads[p.Cells[i].Workload].ID
		if n := p.TrialsOf(i); n != len(in[id])+1 { // and the warm-up
			t.Errorf("%s is said to have %d trials and has %d", id, n, len(in[id])+1)
		}
	}
	run := &record.Run{Format: record.FormatVersion}
	p.Record(run)
	if len(run.Study.Further) != 2 {
		t.Errorf("%+v", run.Study.Further)
	}
	q, err := FromRun(run)
	require.NoError(t, err)
	for i := range p.Trials() {
		if a, b := p.Trial(i), q.Trial(i); a.Block != b.Block || a.Cell != b.Cell {
			t.Fatalf("trial %d is another after a resume", i)
		}
	}
	run.Protocol.ClaimLooks = []int{8, 7}
	if _, err := FromRun(run); err == nil {
		t.Error("damaged looks pass")
	}
}

// The most that is asked for is the last look.
func TestClaimLooks(t *testing.T) {
	for want, got := range map[string][]int{
		"[7 14 28]":  ClaimLooks(7, 0),
		"[7 14 20]":  ClaimLooks(7, 20),
		"[10 11]":    ClaimLooks(10, 11),
		"[10 20 40]": ClaimLooks(10, 40),
	} {
		if s := fmt.Sprint(got); s != want {
			t.Errorf("%s, not %s", s, want)
		}
	}
}

// A plan that is narrowed has what is needed, under the same names, and its record
// leads to it again.
func TestOnlyClaims(t *testing.T) {
	p := claimed(t, "")
	whole := map[string]bool{}
	for _, e := range p.Environments {
		whole[e.ID] = true
	}
	p.Only([]record.Claim{{ID: "t/1"}}, needsDocker)
	if len(p.Environments) != 1 || len(p.Workloads) != 2 || len(p.Cells) != 2 || !whole[p.Environments[0].ID] || len(p.Study.Parts) != 2 {
		t.Errorf("%+v %+v %+v %+v", p.Environments, p.Workloads, p.Cells, p.Study.Parts)
	}
	if !slices.Equal(p.Study.Only, []string{"t/1"}) || len(p.Study.Claims) != 1 {
		t.Errorf("%+v", p.Study)
	}
	run := &record.Run{Format: record.FormatVersion}
	p.Record(run)
	if q, err := FromRun(run); err != nil || q.Trials() != p.Trials() {
		t.Errorf("%v", err)
	}
	// A study without parts.
	p, _ = recorded(t)
	p.Only(nil, func(e *record.Environment, w *record.Workload) bool {
		return e.Engine == "charliecloud" && w.ID == "hello"
	})
	if len(p.Cells) != 1 || len(p.Study.Parts) != 0 || len(p.Excluded) != 0 {
		t.Errorf("%+v %+v", p.Cells, p.Excluded)
	}
}
