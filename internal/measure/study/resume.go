package study

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"plimsoll/internal/record"
)

// Record writes the plan into a run.
func (p *Plan) Record(run *record.Run) {
	run.Study = p.Study
	run.Protocol = p.Protocol
	run.Protocol.Plan = p.Digest()
	run.Environments = slices.Clone(p.Environments)
	run.Workloads = slices.Clone(p.Workloads)
	run.Excluded = slices.Clone(p.Excluded)
	run.Study.Further = nil
	for _, c := range p.Cells {
		if c.Further {
			run.Study.Further = append(run.Study.Further, record.CellID{Env: p.Environments[c.Env].ID, Workload: p.Workloads[c.Workload].ID})
		}
	}
}

// FromRun makes the plan of an earlier run again, from its record alone, so
// that a run goes on as it began whatever has become of study and machine. It
// refuses a record that does not lead to the same plan.
func FromRun(run *record.Run) (*Plan, error) {
	p := &Plan{Study: run.Study, Protocol: run.Protocol, Environments: run.Environments, Workloads: run.Workloads, Excluded: run.Excluded}
	refuse := func(format string, args ...any) (*Plan, error) {
		return nil, fmt.Errorf("run %s can't be resumed: %s; start a new run", run.ID, fmt.Sprintf(format, args...))
	}
	q := p.Protocol
	switch {
	case run.Format > record.FormatVersion:
		return refuse("its format %d is newer than this program's %d", run.Format, record.FormatVersion)
	case q.Algorithm != Algorithm:
		return refuse("the order of its trials is by %q, and this program knows %q", q.Algorithm, Algorithm)
	case q.Blocks < 1 || q.Warmup < 0 || q.PerBlock < 1 || q.Seed == 0 || q.Order != "random" && q.Order != "sequential":
		return refuse("its protocol is damaged (blocks %d, warm-up %d, per block %d, seed %d, order %q)", q.Blocks, q.Warmup, q.PerBlock, q.Seed, q.Order)
	case len(q.ClaimLooks) > 0 && (!slices.IsSorted(q.ClaimLooks) || q.ClaimLooks[0] < 1 || q.ClaimLooks[len(q.ClaimLooks)-1] != q.Blocks):
		return refuse("its protocol is damaged (looks after %v of %d blocks)", q.ClaimLooks, q.Blocks)
	case len(p.Environments) == 0 || len(p.Workloads) == 0:
		return refuse("its record has no environment or no workload")
	}
	type cell struct{ env, workload string }
	out := map[cell]bool{}
	for _, x := range p.Excluded {
		if x.Workload != "" {
			out[cell{x.ID, x.Workload}] = true
		}
	}
	further := map[record.CellID]bool{}
	for _, c := range run.Study.Further {
		further[c] = true
	}
	occurs := cellsOf(run)
	seen := map[string]bool{}
	for e, env := range p.Environments {
		if seen[env.ID] {
			return refuse("environment %s is in its record twice", env.ID)
		}
		seen[env.ID] = true
		for w, workload := range p.Workloads {
			if in, ok := occurs(e, w); ok && !out[cell{env.ID, workload.ID}] {
				p.Cells = append(p.Cells, Cell{e, w, in.blocks, in.unwarmed, further[record.CellID{Env: env.ID, Workload: workload.ID}]})
			}
		}
	}
	if n := product(len(p.Cells), q.PerBlock, q.Blocks+q.Warmup); n == 0 || n > maxTrials {
		return refuse("its plan has %d trials", n)
	}
	if got := p.Digest(); got != q.Plan {
		return refuse("its record leads to another plan (%s) than it began with (%s)", got, q.Plan)
	}
	return p, nil
}

// cellsOf says, from the record of a study's parts, in which blocks a workload
// runs in an environment, both by their places, and whether it is to run there
// at all.
func cellsOf(run *record.Run) func(env, workload int) (when, bool) {
	envs, works := map[string]int{}, map[string]int{}
	for i, e := range run.Environments {
		envs[e.ID] = i
	}
	for i, w := range run.Workloads {
		works[w.ID] = i
	}
	known := make([]map[int]when, len(envs))
	for _, part := range run.Study.Parts {
		for _, id := range part.Environments {
			e, ok := envs[id]
			if !ok {
				continue // left out
			}
			if known[e] == nil {
				known[e] = map[int]when{}
			}
			for _, id := range part.Workloads {
				if w, ok := works[id]; ok {
					known[e][w] = when{part.Blocks, part.Unwarmed}.with(known[e], w)
				}
			}
		}
	}
	return func(e, w int) (when, bool) {
		in, ok := known[e][w]
		return in, ok || len(run.Study.Parts) == 0
	}
}

// Check says whether a trial that was recorded is the one that the plan has in
// its place.
func (p *Plan) Check(t *record.Trial) error {
	if t.Seq < 0 || t.Seq >= p.Trials() {
		return fmt.Errorf("trial %d is not in the plan, which has %d trials", t.Seq, p.Trials())
	}
	want := p.Trial(t.Seq)
	if t.Env != want.Env.ID || t.Workload != want.Workload.ID || t.Block != want.Block || t.Warmup != want.Warmup {
		return fmt.Errorf("trial %d is %s in %s in block %d, and the plan has %s in %s in block %d there: the record is of another plan",
			t.Seq, t.Workload, t.Env, t.Block, want.Workload.ID, want.Env.ID, want.Block)
	}
	return nil
}

// Digest stands for everything that decides which trial has which place and
// what it does: two plans with the same digest are the same.
func (p *Plan) Digest() string {
	type env struct {
		ID, Engine string
		Levels     map[string]string
	}
	type workload struct {
		ID, Name string
		Params   map[string]string
		Source   string `json:",omitempty"`
	}
	var d struct {
		Protocol     record.Protocol
		Environments []env
		Workloads    []workload
		Cells        []Cell
	}
	d.Protocol = p.Protocol
	d.Protocol.Plan = ""
	for _, e := range p.Environments {
		d.Environments = append(d.Environments, env{e.ID, e.Engine, e.Levels})
	}
	for _, w := range p.Workloads {
		d.Workloads = append(d.Workloads, workload{w.ID, w.Name, w.Params, w.Source})
	}
	d.Cells = p.Cells
	// Encoding plain maps, strings and numbers can't fail, and sorts the maps.
	b, err := json.Marshal(d)
	if err != nil {
		panic("study: " + err.Error())
	}
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}
