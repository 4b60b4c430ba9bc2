package importer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"plimsoll/internal/record"
)

// builder collects environments, workloads and trials as files name them.
type builder struct {
	several bool   // several files: each is an environment
	stem    string // of the file that is read now

	envs   []record.Environment
	envAt  map[string]int
	works  []record.Workload
	workAt map[string]int
	trials []record.Trial
	count  map[[2]string]int // trials of each cell so far
	host   record.Host
}

func newBuilder(several bool) *builder {
	return &builder{several: several, envAt: map[string]int{}, workAt: map[string]int{}, count: map[[2]string]int{}}
}

func (b *builder) file(name string) { b.stem = stem(name) }

// env finds or adds an environment. Engine is "imported" where it is unknown.
func (b *builder) env(id, engine, baseline string, levels map[string]string) string {
	id = cmp.Or(clean(id), b.stem)
	if b.several && id != b.stem {
		id = clean(b.stem + ": " + id)
	}
	if _, ok := b.envAt[id]; !ok {
		if engine = clean(engine); engine == "" {
			engine = "imported"
		}
		if baseline != "native" && baseline != "floor" && baseline != "host" {
			baseline = ""
		}
		b.envAt[id] = len(b.envs)
		b.envs = append(b.envs, record.Environment{ID: id, Engine: engine, Baseline: baseline, Levels: cleanMap(levels)})
	}
	return id
}

// workload finds or adds a workload.
func (b *builder) workload(id string, params map[string]string) *record.Workload {
	if id = clean(id); id == "" {
		id = b.stem
	}
	at, ok := b.workAt[id]
	if !ok {
		at = len(b.works)
		b.workAt[id] = at
		b.works = append(b.works, record.Workload{ID: id, Name: id, Title: id, Params: cleanMap(params)})
	}
	return &b.works[at]
}

func cleanMap(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	out := map[string]string{}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if key := clean(k); key != "" {
			out[key] = clean(m[k])
		}
	}
	return out
}

// metric adds a metric to a workload that has it not yet. Two units under one
// name would be two metrics.
func metric(w *record.Workload, m record.Metric) error {
	for _, old := range w.Metrics {
		if old.ID == m.ID {
			if old.Unit != m.Unit {
				return fmt.Errorf("the metric %q of %q has two units, %q and %q", m.ID, w.ID, old.Unit, m.Unit)
			}
			return nil
		}
	}
	w.Metrics = append(w.Metrics, m)
	return nil
}

// trial adds a trial; its place in its cell is its block.
func (b *builder) trial(t record.Trial) error {
	if len(b.trials) >= record.MaxSeq {
		return fmt.Errorf("it has more than %d measurements", record.MaxSeq)
	}
	cell := [2]string{t.Workload, t.Env}
	t.Seq, t.Block = len(b.trials), b.count[cell]
	b.count[cell]++
	b.trials = append(b.trials, t)
	return nil
}

// finish makes the run. Blocks is what every cell has, so that a cell with more
// is not one of a run that broke off.
func (b *builder) finish(from *record.Imported) *record.Run {
	blocks := 0
	for _, n := range b.count {
		if blocks == 0 || n < blocks {
			blocks = n
		}
	}
	for i := range b.works {
		slices.SortStableFunc(b.works[i].Metrics, func(x, y record.Metric) int { return place(x.ID) - place(y.ID) })
	}
	program := map[string]string{Hyperfine: "hyperfine", Benchfmt: "a Go benchmark or what writes its format"}[from.Format]
	run := &record.Run{
		Status: "done", Environments: b.envs, Workloads: b.works, Host: b.host, Imported: from,
		Protocol: record.Protocol{Blocks: blocks, PerBlock: 1, Order: "sequential"},
	}
	run.Host.Remarks = []record.Remark{
		{Code: "not-interleaved", Level: "warn",
			Text:   "these numbers were measured by " + program + " and imported: one thing after the other, not interleaved; a block is the n-th measurement of each, not a moment that they share",
			Advice: "don't trust a small difference; measure with `plimsoll run` to have blocks"},
		{Code: "host-unknown", Level: "info",
			Text: "of the machine only what the file names is known: nothing says what disturbed it, nor that it was the same one for all"},
	}
	return run
}

// place is a metric's place in the life cycle; the others come after it.
func place(id string) int {
	at := slices.IndexFunc(record.LifeCycle, func(m record.Metric) bool { return m.ID == id })
	if at < 0 {
		return len(record.LifeCycle)
	}
	return at
}
