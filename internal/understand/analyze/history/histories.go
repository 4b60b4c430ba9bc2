package history

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/sample"
)

// Options are for New.
type Options struct {
	// Threshold is the smallest relative change that is reported; 0 is 5 %.
	Threshold float64
	// Against is the baseline: native, floor, host, "none" for absolute values,
	// or empty for the one that most runs have.
	Against string
	// Filter keeps the series of which each factor has one of these levels.
	// Without one for the metric, each workload's shown ones are kept.
	Filter []compare.Filter
	// Seed of the permutations.
	Seed uint64
}

// Past is the result of one run and where it lies.
type Past struct {
	Dir    string
	Result *analyze.Result
}

// permutations bounds how small a p can be: one in a thousand.
const permutations = 999

// New orders runs by their start and finds the changes.
func New(runs []Past, skipped []SkippedRun, o Options) (*Histories, error) {
	h := &Histories{Schema: schema, Threshold: analyze.Positive(o.Threshold, 0.05), Method: "e-divisive means", Correction: "maxT (Westfall & Young)",
		Alpha: sample.Alpha, Permutations: permutations, Seed: o.Seed, Skipped: append([]SkippedRun{}, skipped...), Histories: []History{}}
	runs = slices.Clone(runs)
	slices.SortStableFunc(runs, func(a, b Past) int { return a.Result.Run.Started.Compare(b.Result.Run.Started) })
	for _, r := range runs {
		h.add(r)
	}
	if len(h.Histories) == 0 {
		return nil, errors.New("no run has a counted trial that succeeded: there is no history")
	}
	kept := 0
	for i := range h.Histories {
		h.Histories[i].collect(o.Against)
	}
	if err := h.filter(o.Filter); err != nil {
		return nil, err
	}
	for i := range h.Histories {
		kept += len(h.Histories[i].Series)
	}
	if kept == 0 {
		return nil, errors.New("no series is left: each metric that these runs show is filtered away, or has no value")
	}
	h.findChanges()
	for i := range h.Histories {
		h.Histories[i].remarks()
		h.Histories[i].apart(h.Histories[:i])
	}
	return h, nil
}

// add puts a run to the history that it continues, or begins one.
func (h *Histories) add(r Past) {
	info := &r.Result.Run
	if info.Blocks == 0 {
		h.Skipped = append(h.Skipped, SkippedRun{r.Dir, "run " + info.ID + " has no counted trial that succeeded"})
		return
	}
	for i := range h.Histories {
		for k, old := range h.Histories[i].Runs {
			if old.Run == info.ID && old.Started.Equal(info.Started) {
				h.Skipped = append(h.Skipped, SkippedRun{r.Dir, "it is the same run as " + h.Histories[i].Runs[k].Dir})
				return
			}
		}
	}
	at := slices.IndexFunc(h.Histories, func(x History) bool { return continues(x.results[0], r.Result) })
	if at < 0 {
		h.Histories = append(h.Histories, History{Study: info.Study, Machine: analyze.MachineOf(info.Host), Runs: []PastRun{},
			Series: []Series{}, Changes: []Change{}, Remarks: []record.Remark{}})
		at = len(h.Histories) - 1
	}
	x := &h.Histories[at]
	x.results = append(x.results, r.Result)
	x.Runs = append(x.Runs, PastRun{Dir: r.Dir, Run: info.ID, Status: info.Status, Started: info.Started, Tool: info.Tool.Version, Blocks: info.Blocks})
}

// continues says whether two runs are of one study and alike in what decides
// how fast things are.
func continues(a, b *analyze.Result) bool {
	return a.Run.Study == b.Run.Study && !slices.ContainsFunc(compare.Facts(a, b), func(f compare.Fact) bool { return f.Bars })
}

// collect makes the series: those of the last run in its order, then those
// that only earlier runs have.
func (h *History) collect(against string) {
	type key struct{ work, metric, env string }
	seen := map[key]bool{}
	for _, r := range slices.Backward(h.results) {
		for w := range r.Workloads {
			work := &r.Workloads[w]
			for t := range work.Tables {
				table := &work.Tables[t]
				for c := range table.Cells {
					k := key{work.ID, table.Metric.ID, table.Cells[c].Env}
					if table.Cells[c].Median == nil || seen[k] {
						continue
					}
					seen[k] = true
					s := Series{Workload: k.work, Metric: table.Metric, Env: k.env, Points: []Point{}, Regimes: []Regime{}}
					e := r.Environment(k.env)
					s.Engine, s.Levels = e.Engine, e.Levels
					h.points(&s, work.Params, against)
					// A baseline that has no other beside it tells of the machine alone.
					if e.Baseline == "" || against == "none" || !s.absolute() {
						h.Series = append(h.Series, s)
					}
				}
			}
		}
	}
}

// absolute says that the machine's speed on each day is in the values.
func (s *Series) absolute() bool { return s.Against == "" && !compare.OwnScale(s.Metric.Unit) }

// points fills in what each run says.
func (h *History) points(s *Series, params map[string]string, against string) {
	s.Against, s.AgainstMetric = h.yardstick(s, against)
	for _, r := range h.results {
		p, l := Point{}, math.NaN()
		if logs, why := s.blocksOf(r, params); why != "" {
			p.Missing = why
		} else {
			center, in, ok := stats.PseudoMedian(logs, stats.Level)
			if len(logs) < sample.MinRank {
				center, in, ok = stats.TInterval(logs, stats.Level)
				ok = ok && len(logs) >= sample.MinT
			}
			p.Estimate, l = &sample.Estimate{Value: math.Exp(center)}, center
			if lo, hi := math.Exp(in.Lo), math.Exp(in.Hi); ok && !math.IsInf(hi, 0) {
				p.Lo, p.Hi = &lo, &hi
			}
		}
		s.Points, s.logs = append(s.Points, p), append(s.logs, l)
	}
}

// yardstick chooses the baseline that most runs have, and its metric.
func (h *History) yardstick(s *Series, only string) (name, metric string) {
	if only == "none" || compare.OwnScale(s.Metric.Unit) {
		return "", ""
	}
	most := 0
	for _, m := range compare.YardMetrics(s.Metric) {
		for _, b := range analyze.Baselines {
			if only != "" && b != only {
				continue
			}
			n := 0
			for _, r := range h.results {
				if w := r.Workload(s.Workload); w != nil {
					if t := w.Table(s.Metric.ID); t != nil && compare.Yard(w, t.Cell(s.Env), b, m) != nil {
						n++
					}
				}
			}
			if n > most {
				name, metric, most = b, m, n
			}
		}
	}
	return name, metric
}

// blocksOf gives the logarithms of a run's block medians, each over the
// baseline's of its block, or says why there are none.
func (s *Series) blocksOf(r *analyze.Result, params map[string]string) (logs []float64, why string) {
	w := r.Workload(s.Workload)
	if w == nil {
		return nil, "no workload " + s.Workload
	}
	if r.Environment(s.Env) == nil {
		for _, x := range r.Excluded {
			if x.ID == s.Env && x.Workload == "" {
				return nil, x.Kind + ": " + x.Reason
			}
		}
		return nil, "no environment " + s.Env
	}
	if fmt.Sprint(w.Params) != fmt.Sprint(params) {
		return nil, "other parameters of the workload"
	}
	t := w.Table(s.Metric.ID)
	switch {
	case t == nil:
		return nil, "no such metric"
	case !compare.SameMeaning(t.Metric, s.Metric):
		return nil, "the metric meant something else then: its unit, its events or its direction differ"
	}
	cell := t.Cell(s.Env)
	if cell.Median == nil {
		return nil, cell.Missing
	}
	var by []float64
	if s.Against != "" {
		if by = compare.Yard(w, cell, s.Against, s.AgainstMetric); by == nil {
			return nil, "no " + s.Against + " to divide by"
		}
	}
	return compare.BlockLogs(cell, by)
}

// filter keeps the chosen series, or those of the metrics that a report shows.
func (h *Histories) filter(filters []compare.Filter) error {
	var all compare.Changes
	metric := slices.ContainsFunc(filters, func(f compare.Filter) bool { return f.Key == "metric" })
	for i := range h.Histories {
		x := &h.Histories[i]
		for _, s := range x.Series {
			all.Cells = append(all.Cells, compare.Change{Workload: s.Workload, Metric: s.Metric, Env: s.Env, Engine: s.Engine, Levels: s.Levels})
		}
	}
	if err := all.Keep(compare.Options{Filter: filters}); err != nil {
		return err
	}
	for i := range h.Histories {
		x := &h.Histories[i]
		x.Series = slices.DeleteFunc(x.Series, func(s Series) bool {
			kept := slices.ContainsFunc(all.Cells, func(c compare.Change) bool {
				return c.Workload == s.Workload && c.Metric.ID == s.Metric.ID && c.Env == s.Env
			})
			return !kept || !metric && !x.shows(s.Workload, s.Metric.ID)
		})
	}
	return nil
}

// shows says whether any run shows a metric first.
func (h *History) shows(workload, metric string) bool {
	return slices.ContainsFunc(h.results, func(r *analyze.Result) bool {
		w := r.Workload(workload)
		return w != nil && slices.Contains(w.Show, metric)
	})
}

// findChanges looks for them in all series of all histories as one family.
func (h *Histories) findChanges() {
	total := 0
	for i := range h.Histories {
		total += len(h.Histories[i].Runs)
	}
	var family [][]float64
	from := 0
	for i := range h.Histories {
		x := &h.Histories[i]
		for s := range x.Series {
			// Each history has moments of its own.
			row := slices.Repeat([]float64{math.NaN()}, total)
			copy(row[from:], x.Series[s].logs)
			family = append(family, row)
		}
		from += len(x.Runs)
	}
	breaks := stats.Breaks(family, stats.BreakOptions{Alpha: h.Alpha, Permutations: h.Permutations, Seed: h.Seed})
	k, from := 0, 0
	for i := range h.Histories {
		x := &h.Histories[i]
		for s := range x.Series {
			for b := range breaks[k] {
				breaks[k][b].At -= from
			}
			x.changesOf(s, breaks[k], h.Threshold)
			k++
		}
		from += len(x.Runs)
	}
	h.lastRuns()
	for i := range h.Histories {
		h.Histories[i].explain()
	}
}
