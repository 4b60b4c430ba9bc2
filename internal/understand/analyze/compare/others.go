package compare

import (
	"math"
	"slices"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
)

// Others are the environments of other engines that stood for the machine between two
// runs, in place of the weighed baselines.
type Others struct {
	// Environments are how many, and Engines of how many engines, floor among them.
	Environments int `json:"environments"`
	Engines      int `json:"engines"`
	// Moved is by how much they were slower in NEW (for a rate: higher), as a fraction.
	Moved float64 `json:"moved"`
	// Weight is how much of that was taken out: 1, or what earlier runs tell.
	Weight float64 `json:"weight"`
	// Least and Most bound how many times the environment may follow the others, as
	// exponents; missing where earlier runs tell how much that scatters.
	Least float64 `json:"least,omitempty"`
	Most  float64 `json:"most,omitempty"`
}

// leastEngines is of how many engines the others must be: with three, one of them may
// have changed without a word and the middle one has not.
const leastEngines = 3

// A machine that is slower on one day slows no two environments down alike. Between
// runs of the same engines with nothing changed, minutes apart on a machine that moved
// by up to 20 %, starts followed the others by 0.6 (Docker, which sleeps much of its
// time) to 1.2 (runc), beside compilers by 0.55 (runc) to 1.6 (Podman), and the baselines
// by 0 to 3: what takes half a millisecond lives by the caches. Bounds in place of a
// model: docs/aa.md has the runs, and how often the interval is right with them.
const (
	followsLeast, followsMost   = 0.5, 1.5
	baselineLeast, baselineMost = 0, 3
)

// crowd are other environments, by engine (bare runtimes each by itself), with what tells their level in BASE.
type crowd struct {
	engines [][]member
	n       int
}

type member struct {
	env, metric string
	center      float64 // in BASE, on the logarithm
}

// others finds the environments that tell between two runs how fast the machine was:
// of other engines, which are the same in both by all that is known of them, on a
// machine that is the same by all that is known. nil where they are too few.
func (c *Changes) others(ch *Change, work *analyze.Workload, next *analyze.Workload) *crowd {
	if c.unlike == nil {
		c.unlike = map[string]bool{}
		for _, f := range Facts(c.BaseRun, c.NewRun) {
			switch {
			case f.Env != "":
				c.unlike[f.Env] = true
			case f.Bars || f.Where == "machine" && f.Key != "name":
				c.unlike[""] = true
			}
		}
	}
	if c.unlike[""] || c.renamed != nil {
		return nil
	}
	out, at := &crowd{}, map[string]int{}
	for i := range c.BaseRun.Environments {
		e := &c.BaseRun.Environments[i]
		owner := changesAlone(e.Engine, e.Levels)
		if !tells(e) || owner == changesAlone(ch.Engine, ch.Levels) || c.unlike[e.ID] {
			continue
		}
		m, ok := memberOf(work, next, e.ID, ch.Metric)
		if !ok {
			continue
		}
		k, known := at[owner]
		if !known {
			k, at[owner] = len(out.engines), len(out.engines)
			out.engines = append(out.engines, nil)
		}
		out.engines[k] = append(out.engines[k], m)
		out.n++
	}
	if len(out.engines) < leastEngines {
		return nil
	}
	return out
}

// changesAlone names what of an environment may change without the others: its engine,
// and of bare runtimes, which nothing stands above, each by itself.
func changesAlone(engine string, levels map[string]string) string {
	const bare, runtime = "oci", "runtime"
	if engine == bare {
		return engine + "/" + levels[runtime]
	}
	return engine
}

// tells says that an environment follows the machine as engines do: floor, which makes
// what a container is made of, but not native and host, of whose fifth of a millisecond
// most is scatter of its own.
func tells(e *record.Environment) bool {
	const floor = "floor"
	return e.Baseline == floor || e.Engine == floor || e.Baseline == "" && !slices.Contains(analyze.Baselines, e.Engine)
}

// memberOf is an environment by the metric in question, or by its start-up where it has
// no such step.
func memberOf(work, next *analyze.Workload, env string, metric record.Metric) (member, bool) {
	for _, id := range YardMetrics(metric) {
		logs := logsOf(work, env, id)
		if len(logs) > 0 && len(logsOf(next, env, id)) > 0 {
			return member{env: env, metric: id, center: stats.Median(stats.Sorted(logs))}, true
		}
	}
	return member{}, false
}

func logsOf(work *analyze.Workload, env, metric string) (logs []float64) {
	t := work.Table(metric)
	if t == nil || t.Cell(env) == nil {
		return nil
	}
	for _, v := range t.Cell(env).ByBlock {
		if v > 0 {
			logs = append(logs, math.Log(v))
		}
	}
	return logs
}

// by is by how much the others were slower than in the middle of BASE in each block of
// a run: the median over the engines of the medians of their environments, so that
// neither an engine that has changed nor one with many environments decides. NaN where
// a block has too few of them.
func (k *crowd) by(work *analyze.Workload) []float64 {
	blocks := 0
	cells := make([][]*analyze.Cell, len(k.engines))
	for i, engine := range k.engines {
		for _, m := range engine {
			var cell *analyze.Cell
			if t := work.Table(m.metric); t != nil {
				cell = t.Cell(m.env)
			}
			cells[i] = append(cells[i], cell)
			if cell != nil {
				blocks = max(blocks, len(cell.ByBlock))
			}
		}
	}
	out := make([]float64, blocks)
	for b := range out {
		var engines []float64
		for i, engine := range k.engines {
			var logs []float64
			for j, m := range engine {
				if cell := cells[i][j]; cell != nil && b < len(cell.ByBlock) && cell.ByBlock[b] > 0 {
					logs = append(logs, math.Log(cell.ByBlock[b])-m.center)
				}
			}
			if len(logs) > 0 {
				engines = append(engines, stats.Median(stats.Sorted(logs)))
			}
		}
		out[b] = math.NaN()
		if len(engines) >= leastEngines {
			out[b] = stats.Median(stats.Sorted(engines))
		}
	}
	return out
}

// beside gives what the others did in the blocks in which a cell has a value, their
// middle where that is not known; nil where it never is.
func (k *crowd) beside(work *analyze.Workload, cell *analyze.Cell) (x []float64) {
	by := k.by(work)
	all := stats.Known(by)
	if len(all) == 0 {
		return nil
	}
	middle := stats.Median(stats.Sorted(all))
	for b, v := range cell.ByBlock {
		switch {
		case math.IsNaN(v):
		case b < len(by) && !math.IsNaN(by[b]):
			x = append(x, by[b])
		default:
			x = append(x, middle)
		}
	}
	return x
}

// follows bounds what of the difference is the machine's, where the others moved by so
// much and all of it was taken out: the environment may follow them less, or more.
func follows(o *Others, moved float64) stats.Interval {
	a, b := (1-o.Most)*moved, (1-o.Least)*moved
	return stats.Interval{Lo: min(a, b), Hi: max(a, b)}
}

// bounded says how many times an environment may follow the others.
func (c *Changes) bounded(env string) (least, most float64) {
	if c.baseline(env) {
		return baselineLeast, baselineMost
	}
	return followsLeast, followsMost
}

func (c *Changes) baseline(env string) bool {
	e := c.BaseRun.Environment(env)
	return e != nil && (e.Baseline != "" || slices.Contains(analyze.Baselines, e.Engine))
}
