// Package evaluate reads the trials of a run and says all that can be said of it:
// cells, comparisons with the baselines, the audit, protocols, published tables,
// claims and remarks.
package evaluate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/audit"
	"plimsoll/internal/understand/analyze/findings"
	"plimsoll/internal/understand/analyze/papers"
	"plimsoll/internal/understand/analyze/sample"
)

// Options are for Run.
type Options struct {
	// Delta is the smallest relative difference that matters; 0 takes the
	// protocol's, and 1 % where that has none.
	Delta float64
	// Values keeps all values, from which compare.Options.Quantile is estimated:
	// 8 bytes for each, sampled metrics left out.
	Values bool
	// Levels are quantiles that every cell is given besides, in Cell.Quantiles.
	Levels []float64
}

// Run reads all trials and gives the result.
func Run(r *record.Reader, opts Options) (*analyze.Result, error) {
	s, err := loadStore(r, false)
	if err != nil {
		return nil, err
	}
	run := s.run
	s.keep, s.levels = opts.Values, opts.Levels
	res := &analyze.Result{
		Schema: analyze.Schema,
		Run: analyze.RunInfo{ID: run.ID, Study: run.Study.Name, Scale: run.Study.Scale, Parts: run.Study.Parts, Title: run.Study.Title, Status: run.Status,
			Started: run.Started, Finished: run.Finished, Tool: run.Tool, Protocol: run.Protocol, Host: run.Host,
			Images: run.Images, Residue: run.Residue, Noise: run.Noise, Delta: analyze.Positive(opts.Delta, run.Protocol.Delta, 0.01),
			Blocks: len(s.blocks), Trials: s.trials, Warmup: s.warmup, Repeat: repeat(run), Command: command(run), Imported: run.Imported,
			Looks: run.Looks, Gate: run.Gate, Bound: run.Study.Images, Time: s.spent()},
		Environments: run.Environments, Excluded: run.Excluded, Levels: slices.Clone(opts.Levels),
	}
	insides, err := r.Insides()
	if err != nil {
		return nil, err
	}
	res.Audit = audit.Of(run, s.views, insides)
	// The study's text is for repeating, not for reading a result.
	for w := range run.Workloads {
		res.Workloads = append(res.Workloads, s.workload(w, res.Run.Delta))
		for _, c := range res.Workloads[w].Counts {
			res.Run.Failed += c.Failed
			for _, f := range c.Classes {
				if f.Class == record.Unsupported {
					res.Run.Unsupported += f.N
				}
			}
		}
	}
	mark(res.Audit, res.Workloads)
	for _, b := range analyze.Baselines {
		if o := res.OverheadOf(b, ""); o != nil {
			res.Overhead = append(res.Overhead, *o)
		}
	}
	if res.Ablations = ablations(res, run); len(res.Ablations) > 0 {
		told, err := r.Timeline()
		if err != nil {
			return nil, err
		}
		for _, x := range res.Ablations {
			x.Observe(told)
		}
	}
	res.Charges = charges(res)
	res.Steadiness = steadiness(res)
	res.Papers = papers.Of(res, run)
	papers.AddStatistics(res, run, s.values)
	papers.AddRatios(res, run)
	if res.Features, err = r.Features(); err != nil {
		return nil, err
	}
	if res.Claims = run.Study.Claims; len(res.Claims) > 0 {
		res.Findings = findings.Judge([]*analyze.Result{res}, res.Claims, res.Features)
	}
	res.Remarks = s.remarks(res, r.Remarks())
	neverNull(res)
	return res, nil
}

// neverNull makes lists empty rather than null in JSON.
func neverNull(r *analyze.Result) {
	if r.Environments == nil {
		r.Environments = []record.Environment{}
	}
	if r.Workloads == nil {
		r.Workloads = []analyze.Workload{}
	}
	if r.Excluded == nil {
		r.Excluded = []record.Excluded{}
	}
	if r.Remarks == nil {
		r.Remarks = []record.Remark{}
	}
	for w := range r.Workloads {
		for t := range r.Workloads[w].Tables {
			if tab := &r.Workloads[w].Tables[t]; tab.Ranking == nil {
				tab.Ranking = []string{}
			}
		}
	}
}

func (s *store) workload(w int, delta float64) analyze.Workload {
	work := s.run.Workloads[w]
	out := analyze.Workload{ID: work.ID, Title: work.Title, Name: work.Name, Params: work.Params}
	// Of workloads with one title, which differ in parameters, the id tells.
	for i, other := range s.run.Workloads {
		if i != w && other.Title == work.Title {
			out.Title = ""
		}
	}
	for e := range s.run.Environments {
		out.Counts = append(out.Counts, s.count(w, e))
	}
	out.Tables = make([]analyze.Table, len(s.metrics[w]))
	// Metrics are independent of each other; half of the time goes into sorting.
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for m := range s.metrics[w] {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			out.Tables[m] = s.table(w, m, delta)
		})
	}
	wg.Wait()
	out.Show, out.Sort = s.show(w, &out)
	out.Density, out.Load = s.density(w), s.load(w)
	out.Beside = s.beside(w)
	return out
}

// maxShown bounds how many of a workload's own metrics get a ranking each
// without being asked for; a report shows the medians of the others.
const maxShown = 3

// show chooses what is shown first: what the study asks for, else start-up,
// which every engine and every clock has, and the workload's own metrics, the
// first ones.
func (s *store) show(w int, out *analyze.Workload) (ids []string, sort string) {
	for _, id := range s.run.Study.Metrics {
		if out.Table(id) != nil {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		own := slices.DeleteFunc(slices.Clone(s.run.Workloads[w].Metrics), func(m record.Metric) bool { return m.Kind != "" })
		first := slices.DeleteFunc(slices.Clone(own), func(m record.Metric) bool { return !out.Table(m.ID).Measured() })
		known := len(first) > 0
		if !known {
			first = own // each says why it is missing
		}
		for _, m := range first[:min(len(first), maxShown)] {
			ids = append(ids, m.ID)
		}
		// A benchmark that runs for seconds is not about its container's start,
		// and a whole protocol (a pull, a ramp, a load) is about none's.
		start := s.firstOf(out, "startup", "exec-ready")
		if !slices.ContainsFunc(own, func(m record.Metric) bool { return m.ID == "time" }) && (!known || out.Table(start).Measured()) && !slices.Contains(ids, start) {
			// What a study of starts is sorted by comes first: else its rows would
			// follow values that are not to be seen.
			if sort := s.run.Study.Sort; out.Table(sort).Measured() && !slices.Contains(ids, sort) && sort != start {
				ids = append(ids, sort)
			}
			ids = append(ids, start)
		}
	}
	if out.Table(s.run.Study.Sort) != nil {
		sort = s.run.Study.Sort
	}
	return ids, sort
}

// firstOf is the first of these metrics that has a value, else the first.
func (s *store) firstOf(w *analyze.Workload, ids ...string) string {
	for _, id := range ids {
		if t := w.Table(id); t != nil && len(t.Ranking) > 0 {
			return id
		}
	}
	return ids[0]
}

func (s *store) count(w, e int) analyze.Count {
	c := s.cells[w][e]
	out := analyze.Count{Env: s.run.Environments[e].ID, Warmup: c.warmup, Trials: c.trials, Failed: c.failed, Classes: c.classes}
	for _, f := range c.classes {
		if f.Class == record.TimeOut {
			out.Censored = f.N
		}
	}
	if c.trials > 0 {
		out.Rate = sample.NewEstimate(float64(c.failed)/float64(c.trials), stats.Wilson(c.failed, c.trials, stats.Level), true)
	} else {
		out.Missing = s.whyNoTrials(w, e)
	}
	return out
}

// whyNoTrials finds the reason in the plan.
func (s *store) whyNoTrials(w, e int) string {
	if s.asked != nil && !s.asked[[2]string{s.run.Environments[e].ID, s.run.Workloads[w].ID}] {
		return analyze.NotAsked
	}
	for _, x := range s.run.Excluded {
		if x.ID == s.run.Environments[e].ID && (x.Workload == "" || x.Workload == s.run.Workloads[w].ID) {
			return x.Kind + ": " + x.Reason
		}
	}
	if s.run.Status != "done" {
		return "not measured yet"
	}
	return "no trial was recorded"
}

// values are those of one cell, in the order of the blocks.
func (s *store) values(work, env, metric string) []float64 {
	w, e := s.works[work], s.envs[env]
	m := slices.IndexFunc(s.metrics[w], func(m record.Metric) bool { return m.ID == metric })
	if m < 0 {
		return nil
	}
	blocks, _ := s.column(w, e, m)
	return slices.Concat(blocks...)
}

func (s *store) table(w, m int, delta float64) analyze.Table {
	t := analyze.Table{Metric: s.metrics[w][m]}
	medians := make([][]float64, len(s.run.Environments))
	for e := range s.run.Environments {
		var blocks [][]float64
		blocks, medians[e] = s.column(w, e, m)
		t.Cells = append(t.Cells, s.cell(w, e, m, blocks, medians[e]))
		if s.keep && t.Metric.Kind == "" {
			t.Cells[e].Values = append([][]float64{}, blocks...)
		}
	}
	t.Compare(s.run.Environments, medians, delta)
	return t
}

func (s *store) cell(w, e, m int, blocks [][]float64, medians []float64) analyze.Cell {
	x := slices.Concat(blocks...)
	stats.Sort(x)
	c := analyze.Cell{Env: s.run.Environments[e].ID, N: len(x)}
	if len(x) == 0 {
		c.Missing = s.whyNoValue(w, e, m)
		return c
	}
	c.Medians, c.ByBlock = stats.Known(medians), medians
	c.Blocks = len(c.Medians)
	if len(medians) <= analyze.MaxBlockMedians {
		for _, v := range medians {
			if math.IsNaN(v) {
				c.BlockMedians = append(c.BlockMedians, nil)
			} else {
				c.BlockMedians = append(c.BlockMedians, &v)
			}
		}
	}
	c.Median = medianOf(blocks, x)
	c.P95, c.P99 = tail(blocks, x, 0.95), tail(blocks, x, 0.99)
	c.Min, c.Max = &x[0], &x[len(x)-1]
	for _, q := range s.levels {
		c.Quantiles = append(c.Quantiles, stats.Quantile(x, q))
	}
	lo, hi := *c.Min, *c.Max
	c.Min, c.Max = &lo, &hi // lets go of the sorted values
	if c.Median.Value != 0 && len(x) > 1 {
		spread := stats.IQR(x) / math.Abs(c.Median.Value)
		c.Spread = &spread
	}
	c.Outliers = stats.FarOut(x)
	c.Distinct = stats.Distinct(x)
	c.TwoHumps = stats.TwoHumps(x)
	return c
}

// Median is what a report says of values by block, their median with its
// interval, or nil where there is none: for a run that still goes on.
func Median(blocks [][]float64) *sample.Estimate {
	x := slices.Concat(blocks...)
	if len(x) == 0 {
		return nil
	}
	stats.Sort(x)
	return medianOf(blocks, x)
}

func medianOf(blocks [][]float64, sorted []float64) *sample.Estimate {
	middle := stats.Median(sorted)
	i, ok := stats.MedianIntervalAs(sorted, stats.EffectiveSize(blocks, middle, stats.Level), stats.Level)
	return sample.NewEstimate(middle, i, ok)
}

// tail is a quantile with its interval, nil where the values cannot carry it.
func tail(blocks [][]float64, sorted []float64, q float64) *sample.Estimate {
	if _, ok := stats.QuantileInterval(sorted, q, stats.Level); !ok {
		return nil
	}
	v := stats.Quantile(sorted, q)
	i, ok := stats.QuantileIntervalAs(sorted, stats.EffectiveSize(blocks, v, stats.Level), q, stats.Level)
	if !ok {
		return nil
	}
	return sample.NewEstimate(v, i, true)
}

func (s *store) whyNoValue(w, e, m int) string {
	c := s.cells[w][e]
	metric := s.metrics[w][m]
	switch {
	case c.trials == 0:
		return s.whyNoTrials(w, e)
	case c.failed == c.trials:
		return "every trial failed"
	case metric.From == "":
		return "the workload reported none"
	case c.foreign > 0 && metric.From.Inside() != metric.To.Inside():
		return "the container has a clock of its own, which cannot be compared with the host's"
	}
	return "this engine has no such step"
}

// repeat is the command that measures the same again, "" where there is none. Of a
// record of an earlier version it is as near as the record tells.
func repeat(run *record.Run) string {
	if run.Imported != nil {
		return "" // only the program that measured it can
	}
	switch {
	case run.Study.Command != "":
		return run.Study.Command
	case len(run.Arguments) > 0:
		return "plimsoll " + harmless.ShellLine(run.Arguments)
	}
	study := cmp.Or(run.Study.Path, run.Study.Name)
	study = harmless.ShellWord(study)
	if run.Study.Scale != "" {
		study += " --scale " + harmless.ShellWord(run.Study.Scale)
	}
	for _, from := range slices.Sorted(maps.Keys(run.Study.Images)) {
		study += " --image " + harmless.ShellWord(from+"="+run.Study.Images[from])
	}
	for _, part := range run.Study.OnlyParts {
		study += " --part " + harmless.ShellWord(part)
	}
	p := run.Protocol
	s := "plimsoll run " + study + " --seed " + strconv.FormatUint(p.Seed, 10)
	if p.Until > 0 {
		s += fmt.Sprintf(" --until %.6g%% --max-blocks %d", 100*p.Until, p.Blocks)
	}
	if len(run.Study.Only) > 0 {
		s += " --claim " + harmless.ShellWord(strings.Join(run.Study.Only, ","))
	}
	if p.TimeBudgetNS > 0 {
		s += fmt.Sprintf(" --time-budget %s", time.Duration(p.TimeBudgetNS))
	}
	if p.SmallSizes {
		s += " --small"
	}
	if p.Tuned {
		s += " --tuned"
	}
	return s
}

// command is what stood behind "--" on the run's command line, "" without it.
func command(run *record.Run) string {
	i := slices.Index(run.Arguments, "--")
	if i < 0 {
		return ""
	}
	return strings.TrimPrefix(harmless.ShellLine(run.Arguments[i:]), "-- ")
}

// Workloads are those of a run, its warm-up blocks taken like all others, and the
// number of blocks behind them.
func Workloads(r *record.Reader) (works []analyze.Workload, blocks int, err error) {
	s, err := loadStore(r, true)
	if err != nil {
		return nil, 0, err
	}
	for w := range s.run.Workloads {
		works = append(works, s.workload(w, analyze.Positive(s.run.Protocol.Delta, 0.01)))
	}
	return works, len(s.blocks), nil
}
