package history

import (
	"cmp"
	"math"
	"slices"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/sample"
)

// changesOf turns the breaks of a series into changes and regimes. Breaks
// smaller than the threshold are no changes: the smallest goes first, and what
// it parted is one level again.
func (h *History) changesOf(at int, breaks []stats.Break, threshold float64) {
	s := &h.Series[at]
	s.Short = len(stats.Known(s.logs)) < stats.MinBreakable
	for len(breaks) > 0 {
		least, size := s.least(breaks)
		if size > math.Log1p(threshold) {
			break
		}
		breaks = slices.Delete(breaks, least, least+1)
	}
	from := 0
	for i := range len(breaks) + 1 {
		to := len(s.logs)
		if i < len(breaks) {
			to = breaks[i].At
		}
		if r, ok := regime(s.logs, from, to); ok {
			s.Regimes = append(s.Regimes, r)
		}
		from = to
	}
	for i, b := range breaks {
		size, in, method, ok := s.jump(breaks, i)
		c := Change{Series: at, Before: s.Regimes[i].Last, After: b.At, Method: method, P: b.P, Standing: i == len(breaks)-1}
		c.measure(s.Metric, size, in, ok)
		// The one after is nearer to the new level than to the old one.
		rest := stats.Known(s.logs[b.At:])
		middle := (math.Log(s.Regimes[i].Level.Value) + math.Log(s.Regimes[i+1].Level.Value)) / 2
		c.Confirmed = len(rest) > 1 && (rest[1] > middle) == (size > 0)
		h.Changes = append(h.Changes, c)
	}
}

// measure fills in size and direction.
func (c *Change) measure(m record.Metric, size float64, in stats.Interval, ok bool) {
	c.Ratio = sample.Estimate{Value: math.Exp(size)}
	if lo, hi := math.Exp(in.Lo), math.Exp(in.Hi); ok && !math.IsInf(hi, 0) {
		c.Ratio.Lo, c.Ratio.Hi = &lo, &hi
	}
	c.Direction = compare.Better
	if (size < 0) == (m.Better == record.HigherIsBetter) {
		c.Direction = compare.Worse
	}
}

// least finds the break with the smallest change of level, and how large it is.
func (s *Series) least(breaks []stats.Break) (at int, size float64) {
	size = math.Inf(1)
	for i := range breaks {
		if v, _, _, _ := s.jump(breaks, i); math.Abs(v) < size {
			at, size = i, math.Abs(v)
		}
	}
	return at, size
}

// jump is the change of level at break i, as a log ratio of the stretches
// beside it.
func (s *Series) jump(breaks []stats.Break, i int) (size float64, in stats.Interval, method string, ok bool) {
	from, to := 0, len(s.logs)
	if i > 0 {
		from = breaks[i-1].At
	}
	if i+1 < len(breaks) {
		to = breaks[i+1].At
	}
	return levelChange(stats.Known(s.logs[from:breaks[i].At]), stats.Known(s.logs[breaks[i].At:to]))
}

// levelChange is by how much b lies above a.
func levelChange(a, b []float64) (size float64, in stats.Interval, method string, ok bool) {
	if min(len(a), len(b)) >= sample.MinRank {
		size, in, ok = stats.Shift(b, a, stats.Level)
		return size, in, "hodges-lehmann", ok
	}
	size, in, ok = stats.PooledInterval(b, a, stats.Level)
	return size, in, "t", ok
}

// regime is the stretch of logs[from:to].
func regime(logs []float64, from, to int) (Regime, bool) {
	r := Regime{First: -1}
	for i := from; i < to; i++ {
		if !math.IsNaN(logs[i]) {
			if r.First < 0 {
				r.First = i
			}
			r.Last = i
			r.Runs++
		}
	}
	if r.Runs == 0 {
		return r, false
	}
	center, in, ok := stats.PseudoMedian(stats.Known(logs[from:to]), stats.Level)
	r.Level.Value = math.Exp(center)
	if lo, hi := math.Exp(in.Lo), math.Exp(in.Hi); ok && r.Runs >= sample.MinRank {
		r.Level.Lo, r.Level.Hi = &lo, &hi
	}
	return r, true
}

// minLevel is the number of runs of a level from which the last run can be
// said to lie off it.
const minLevel = 5

// lastRuns looks whether the last run of a history alone has left its level:
// two values at least make a new one, so no break can tell yet. The p are
// corrected by Holm for all series.
func (h *Histories) lastRuns() {
	type last struct {
		x     *History
		s, at int
		old   []float64
	}
	var all []last
	var p []float64
	for i := range h.Histories {
		x := &h.Histories[i]
		for k := range x.Series {
			s := &x.Series[k]
			n := len(s.logs) - 1
			if math.IsNaN(s.logs[n]) {
				continue
			}
			old := stats.Known(s.logs[s.Regimes[len(s.Regimes)-1].First:n])
			if len(old) >= minLevel {
				all, p = append(all, last{x, k, n, old}), append(p, stats.PredictionTest(old, s.logs[n]))
			}
		}
	}
	for i, holm := range stats.Holm(p) {
		l := all[i]
		s := &l.x.Series[l.s]
		size, in, method, ok := levelChange(l.old, []float64{s.logs[l.at]})
		if !(holm < sample.Alpha) || math.Abs(size) <= math.Log1p(h.Threshold) {
			continue
		}
		before := l.at - 1
		for math.IsNaN(s.logs[before]) {
			before--
		}
		c := Change{Series: l.s, Before: before, After: l.at, Method: method, P: holm}
		c.measure(s.Metric, size, in, ok)
		l.x.Changes = append(l.x.Changes, c)
	}
}

// explain orders the changes by their run, and says what else differed there.
func (h *History) explain() {
	slices.SortStableFunc(h.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.After, b.After), cmp.Compare(a.Series, b.Series))
	})
	for i := range h.Changes {
		c := &h.Changes[i]
		s := &h.Series[c.Series]
		a, b := h.results[c.Before], h.results[c.After]
		beside := ""
		if w := b.Workload(s.Workload); w != nil && s.Against != "" {
			beside = w.Table(s.Metric.ID).Cell(s.Env).Ratio(s.Against).Env
		}
		c.Facts = slices.DeleteFunc(compare.Facts(a, b), func(f compare.Fact) bool {
			return f.Env != "" && f.Env != s.Env && f.Env != beside
		})
		c.Steps = compare.StepsBetween(a, b, s.Workload, s.Metric.ID, s.Env)
	}
}
