package hosts

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
)

// Options are for a Gathering.
type Options struct {
	// Metric is the only metric; empty takes those that each workload shows.
	Metric string
	// Against is what environments are held against: native, floor, host, or the id
	// of an environment; empty takes the first baseline that ran, else the first
	// environment.
	Against string
	// By tells hosts apart, as Told says it; empty is ByMachine.
	By By
	// Resume says how the run in a directory is gone on with, for a remark; may be nil.
	Resume func(dir string) string
}

// Gathering takes runs one by one, and keeps only block medians: a hundred hosts with
// a million trials need no more memory than the largest run.
type Gathering struct {
	o      Options
	first  *analyze.Result // without its workloads
	dir    string
	hosts  []*gathered
	tables []*gatheredTable
	envs   []record.Environment
}

type gathered struct {
	Host
	boots []record.Host
	ways  map[string][]string // to its engines, by the environment
}

// gatheredTable has a metric of all runs.
type gatheredTable struct {
	workload, title string
	metric          record.Metric
	envs            []string
	cells           map[cellAt]*gatheredCell
}

type cellAt struct {
	env  string
	host int
}

type gatheredCell struct {
	// medians are those of the blocks of all runs; bases are the environments that
	// it is compared with, by the baseline's name.
	medians []float64
	bases   map[string]string
	missing string
}

// NewGathering begins without any run.
func NewGathering(o Options) *Gathering { return &Gathering{o: o} }

// Add takes a run; dir is where it lies. A run that is of another study, or was
// measured otherwise, is an error.
func (g *Gathering) Add(r *analyze.Result, dir string) error {
	switch {
	case r.Run.Blocks == 0:
		return fmt.Errorf("%s has no counted trial that succeeded", dir)
	case g.first == nil:
		g.first, g.dir = &analyze.Result{Run: r.Run, Environments: r.Environments, Audit: r.Audit}, dir
	default:
		if err := g.fits(r, dir); err != nil {
			return err
		}
	}
	host, err := g.hostOf(r, dir)
	if err != nil {
		return err
	}
	for _, e := range r.Environments {
		if !slices.ContainsFunc(g.envs, func(x record.Environment) bool { return x.ID == e.ID }) {
			g.envs = append(g.envs, e)
		}
	}
	for i := range r.Workloads {
		w := &r.Workloads[i]
		for _, t := range g.wanted(w) {
			g.take(w, t, host)
		}
	}
	return nil
}

// LabelOf is what the host of the run in dir is called; "" where that was not added.
func (g *Gathering) LabelOf(dir string) string {
	for _, h := range g.hosts {
		if slices.ContainsFunc(h.Runs, func(r Run) bool { return r.Dir == dir }) {
			return h.Label
		}
	}
	return ""
}

// fits says why a run can't be set beside the first one.
func (g *Gathering) fits(r *analyze.Result, dir string) error {
	a, b := &g.first.Run, &r.Run
	if a.Study != b.Study || a.Scale != b.Scale || a.Command != b.Command {
		return fmt.Errorf("%s is of %s and %s of %s: only runs of one study at one scale are summarised over hosts", g.dir, studyOf(a), dir, studyOf(b))
	}
	for _, f := range compare.Facts(g.first, r) {
		if f.Where == "protocol" && f.Bars {
			return fmt.Errorf("%s and %s were measured otherwise: %s is %s in the one and %s in the other", g.dir, dir, f.Key, f.Base, f.New)
		}
	}
	return nil
}

func studyOf(r *analyze.RunInfo) string {
	s := r.Study
	if r.Command != "" {
		s = r.Command
	}
	if r.Scale != "" {
		s += " at scale " + r.Scale
	}
	return s
}

// hostOf finds or adds the host of a run.
func (g *Gathering) hostOf(r *analyze.Result, dir string) (int, error) {
	run := Run{ID: r.Run.ID, Dir: dir, Status: r.Run.Status}
	at := slices.IndexFunc(g.hosts, func(h *gathered) bool {
		return slices.ContainsFunc(h.boots, func(m record.Host) bool { return sameHost(m, r.Run.Host, g.o.By) })
	})
	for _, h := range g.hosts {
		for _, old := range h.Runs {
			if old.ID == run.ID && run.ID != "" {
				return 0, fmt.Errorf("%s is the same run as %s", dir, old.Dir)
			}
		}
	}
	if at < 0 {
		taken := lists.Map(g.hosts, func(h *gathered) Host { return h.Host })
		g.hosts = append(g.hosts, &gathered{Host: Host{Label: label(r.Run.Host.Name, taken), Machine: r.Run.Host}})
		at = len(g.hosts) - 1
	}
	h := g.hosts[at]
	h.boots = append(h.boots, r.Run.Host)
	h.reached(r.Environments)
	h.Runs = append(h.Runs, run)
	h.Blocks, h.Trials, h.Failed = h.Blocks+r.Run.Blocks, h.Trials+r.Run.Trials-r.Run.Warmup, h.Failed+r.Run.Failed
	return at, nil
}

// wanted are the tables of a workload that are summarised.
func (g *Gathering) wanted(w *analyze.Workload) []*analyze.Table {
	ids := w.Show
	if g.o.Metric != "" {
		ids = []string{g.o.Metric}
	}
	return lists.Filter(lists.Map(ids, w.Table), (*analyze.Table).Measured)
}

func (g *Gathering) table(workload, title string, m record.Metric) *gatheredTable {
	for _, t := range g.tables {
		if t.workload == workload && t.metric.ID == m.ID {
			return t
		}
	}
	g.tables = append(g.tables, &gatheredTable{workload: workload, title: title, metric: m, cells: map[cellAt]*gatheredCell{}})
	return g.tables[len(g.tables)-1]
}

// take keeps a table of a run. All cells of a run have the same number of places, so
// that those of two runs of a host stay beside each other.
func (g *Gathering) take(w *analyze.Workload, t *analyze.Table, host int) {
	into := g.table(w.ID, w.Title, t.Metric)
	before, blocks := 0, 0
	for at, c := range into.cells {
		if at.host == host {
			before = max(before, len(c.medians))
		}
	}
	for i := range t.Cells {
		blocks = max(blocks, len(t.Cells[i].ByBlock))
	}
	for i := range t.Cells {
		c := &t.Cells[i]
		if c.Missing == analyze.NotAsked {
			continue
		}
		into.envs = analyze.Also(into.envs, c.Env)
		at := cellAt{c.Env, host}
		cell := into.cells[at]
		if cell == nil {
			cell = &gatheredCell{bases: map[string]string{}}
			into.cells[at] = cell
		}
		cell.medians = filled(append(filled(cell.medians, before), c.ByBlock...), before+blocks)
		if c.Missing != "" {
			cell.missing = c.Missing
		}
		for _, q := range c.Ratios {
			cell.bases[q.Baseline] = q.Env
		}
	}
}

// filled makes a list of blocks longer: those that are not there have no value.
func filled(x []float64, n int) []float64 {
	for len(x) < n {
		x = append(x, math.NaN())
	}
	return x
}

// base chooses what environments are held against: the name of a baseline, or an
// environment.
func (g *Gathering) base() (string, error) {
	known := lists.Filter(analyze.Baselines, func(name string) bool {
		return slices.ContainsFunc(g.envs, func(e record.Environment) bool { return e.Baseline == name })
	})
	for _, e := range g.envs {
		known = append(known, e.ID)
	}
	switch known = analyze.Distinct(known); {
	case len(known) == 0:
		return "", errors.New("the runs have no environment")
	case g.o.Against == "":
		return known[0], nil
	case !slices.Contains(known, g.o.Against):
		return "", &analyze.ChoiceError{What: "environment", Word: g.o.Against, Known: known}
	}
	return g.o.Against, nil
}
