package compare

import (
	"cmp"
	"fmt"
	"slices"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// Options are for Between and Within.
type Options struct {
	// Delta is the smallest relative difference that matters; 0 takes BASE's.
	Delta float64
	// Against is the baseline that both runs are divided by: native, floor,
	// host, "none" for absolute values, or empty to take out what all of them
	// carry (stats.Control).
	Against string
	// Earlier are runs of the same thing, by which the scatter between runs is
	// known. Those that are unlike BASE are left out, and so is BASE or NEW itself.
	Earlier []*analyze.Result
	// Filter keeps the cells of which each factor has one of these levels.
	Filter []Filter
	// Metrics are globs of sampled metrics to compare too.
	Metrics []string
	// Row and Col are the factors of a grouping.
	Row, Col []string
	// Quantile compares this one too, 0.95 for p95; both results need
	// evaluate.Options.Values then. 0 is none.
	Quantile float64
}

// Between compares two runs.
func Between(base, next *analyze.Result, o Options) (*Changes, error) {
	for _, side := range []struct {
		name string
		r    *analyze.Result
	}{{"BASE", base}, {"NEW", next}} {
		if side.r.Run.Blocks == 0 {
			return nil, fmt.Errorf("comparing two runs: %s (run %s) has no counted trial that succeeded: there is nothing to compare; look at it with plimsoll report", side.name, side.r.Run.ID)
		}
	}
	c := newChanges(base, next, o)
	// What was imported from a file with a single environment bears the file's or
	// the command's name: two such are two versions of one thing.
	if base.Run.Imported != nil && next.Run.Imported != nil && len(base.Environments) == 1 && len(next.Environments) == 1 {
		if a, b := base.Environments[0].ID, next.Environments[0].ID; a != b {
			c.renamed = map[string]string{a: b}
		}
	}
	o.Earlier = c.earlier(o.Earlier)
	for w := range base.Workloads {
		for t := range base.Workloads[w].Tables {
			c.table(&base.Workloads[w], &base.Workloads[w].Tables[t], o)
		}
	}
	known := map[[3]string]bool{}
	for i := range c.Cells {
		known[[3]string{c.Cells[i].Workload, c.Cells[i].Metric.ID, c.inNew(c.Cells[i].Env)}] = true
	}
	for w := range next.Workloads {
		for t := range next.Workloads[w].Tables {
			c.added(&next.Workloads[w], &next.Workloads[w].Tables[t], known)
		}
	}
	c.failures()
	c.Facts = Facts(base, next)
	return c, c.finish(o)
}

func newChanges(base, next *analyze.Result, o Options) *Changes {
	command := base.Run.Command
	if next.Run.Command != command {
		command = ""
	}
	return &Changes{Schema: schema, Base: side(base), New: side(next), Command: command, Delta: analyze.Positive(o.Delta, base.Run.Delta, 0.01),
		Facts: []Fact{}, Cells: []Change{}, Failures: []FailureChange{}, Remarks: []record.Remark{}, BaseRun: base, NewRun: next}
}

func side(r *analyze.Result) Side {
	return Side{Run: r.Run.ID, Study: r.Run.Study, Status: r.Run.Status, Started: r.Run.Started, Tool: r.Run.Tool.Version, Machine: analyze.MachineOf(r.Run.Host), Tuned: r.Run.Protocol.Tuned}
}

// table compares what BASE has of one metric.
func (c *Changes) table(work *analyze.Workload, t *analyze.Table, o Options) {
	for i := range t.Cells {
		b := &t.Cells[i]
		if b.Median == nil {
			continue
		}
		ch := c.change(c.BaseRun, work, t, b.Env)
		ch.Base, ch.BaseBlocks, ch.NewEnv = b.Median, b.Blocks, c.renamed[b.Env]
		var n *analyze.Cell
		var nw *analyze.Workload
		var nt *analyze.Table
		if nw, nt, ch.Missing = c.counterpart(work, t, c.inNew(b.Env)); ch.Missing == "" {
			n = nt.Cell(c.inNew(b.Env))
			if n.Median == nil {
				ch.Missing = "NEW: " + n.Missing
			}
		}
		if ch.Missing != "" {
			ch.Lost = true
		} else {
			ch.New, ch.NewBlocks = n.Median, n.Blocks
			c.compare(&ch, [2]*analyze.Workload{work, nw}, [2]*analyze.Table{t, nt}, [2]*analyze.Cell{b, n}, o)
		}
		c.Cells = append(c.Cells, ch)
	}
}

// inNew is the name of BASE's environment in NEW.
func (c *Changes) inNew(env string) string { return cmp.Or(c.renamed[env], env) }

// counterpart finds the same metric in NEW, or says why there is none.
func (c *Changes) counterpart(work *analyze.Workload, t *analyze.Table, env string) (nw *analyze.Workload, nt *analyze.Table, why string) {
	nw = c.NewRun.Workload(work.ID)
	if nw == nil {
		return nil, nil, "NEW has no workload " + work.ID
	}
	if !slices.ContainsFunc(c.NewRun.Environments, func(e record.Environment) bool { return e.ID == env }) {
		for _, x := range c.NewRun.Excluded {
			if x.ID == env && x.Workload == "" {
				return nil, nil, "NEW: " + x.Kind + ": " + x.Reason
			}
		}
		return nil, nil, NoEnvironment(env)
	}
	if fmt.Sprint(work.Params) != fmt.Sprint(nw.Params) { // fmt prints a map in the order of its keys
		return nil, nil, "the workload has other parameters in NEW"
	}
	nt = nw.Table(t.Metric.ID)
	if nt == nil {
		return nil, nil, "NEW has no such metric"
	}
	if !SameMeaning(t.Metric, nt.Metric) {
		return nil, nil, "the metric means something else in NEW: its unit, its events or its direction differ"
	}
	return nw, nt, ""
}

// NoEnvironment says that NEW lacks an environment.
func NoEnvironment(env string) string { return "NEW has no environment " + env }

// SameMeaning says whether values of two metrics of one name can be compared.
func SameMeaning(a, b record.Metric) bool {
	return a.Unit == b.Unit && a.Better == b.Better && a.From == b.From && a.To == b.To
}

// added notes what only NEW has.
func (c *Changes) added(work *analyze.Workload, t *analyze.Table, known map[[3]string]bool) {
	for i := range t.Cells {
		n := &t.Cells[i]
		if n.Median == nil || known[[3]string{work.ID, t.Metric.ID, n.Env}] {
			continue
		}
		ch := c.change(c.NewRun, work, t, n.Env)
		ch.New, ch.NewBlocks, ch.Missing = n.Median, n.Blocks, "not in BASE"
		if w := c.BaseRun.Workload(work.ID); w != nil && w.Table(t.Metric.ID) != nil {
			if b := w.Table(t.Metric.ID).Cell(n.Env); b != nil {
				ch.Missing = "BASE: " + b.Missing
			}
		}
		c.Cells = append(c.Cells, ch)
	}
}

func (c *Changes) change(r *analyze.Result, work *analyze.Workload, t *analyze.Table, env string) Change {
	ch := Change{Workload: work.ID, Metric: t.Metric, Env: env}
	if e := r.Environment(env); e != nil {
		ch.Engine, ch.Levels = e.Engine, e.Levels
	}
	return ch
}

// failures compares how many trials failed.
func (c *Changes) failures() {
	for w := range c.BaseRun.Workloads {
		nw := c.NewRun.Workload(c.BaseRun.Workloads[w].ID)
		if nw == nil {
			continue
		}
		for i := range c.BaseRun.Workloads[w].Counts {
			b := &c.BaseRun.Workloads[w].Counts[i]
			if k := slices.IndexFunc(nw.Counts, func(n analyze.Count) bool { return n.Env == c.inNew(b.Env) }); k >= 0 {
				c.failed(nw.ID, b, &nw.Counts[k])
			}
		}
	}
}

func (c *Changes) failed(workload string, b, n *analyze.Count) {
	if b.Failed == 0 && n.Failed == 0 {
		return
	}
	f := FailureChange{Workload: workload, Env: b.Env, BaseFailed: b.Failed, BaseTrials: b.Trials, NewFailed: n.Failed, NewTrials: n.Trials, BaseRate: b.Rate, NewRate: n.Rate}
	if n.Env != b.Env {
		f.NewEnv = n.Env
	}
	c.Failures = append(c.Failures, f)
}

// judgeFailures says where trials fail more often: where NEW's interval lies
// above BASE's, both at a level that is corrected for the number of rows
// (Bonferroni), so that a long table finds no more by chance than a short one.
func (c *Changes) judgeFailures() {
	level := 1 - sample.Alpha*c.Share()/float64(max(1, len(c.Failures)))
	for i := range c.Failures {
		f := &c.Failures[i]
		f.Worse = f.BaseTrials > 0 && f.NewTrials > 0 &&
			stats.Wilson(f.NewFailed, f.NewTrials, level).Lo > stats.Wilson(f.BaseFailed, f.BaseTrials, level).Hi
	}
}
