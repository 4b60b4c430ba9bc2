package releases

import (
	"math"
	"slices"
	"strings"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/sample"
)

// steps turns the breaks of a series into steps and levels. Breaks smaller than the
// threshold are no steps: the smallest goes first, and what it parted is one level
// again.
func (r *Releases) steps(res *analyze.Result, at int, breaks []stats.Break) {
	s := &r.Series[at]
	for len(breaks) > 0 {
		least, size := 0, math.Inf(1)
		for i := range breaks {
			if e := s.jump(breaks, i); math.Abs(math.Log(e.Value)) < size {
				least, size = i, math.Abs(math.Log(e.Value))
			}
		}
		if size > math.Log1p(r.Threshold) {
			break
		}
		breaks = slices.Delete(breaks, least, least+1)
	}
	for i, b := range breaks {
		step := Step{Series: at, Before: s.before(b.At), After: b.At, Ratio: s.jump(breaks, i), P: b.P}
		step.Direction = direction(s.Metric, step.Ratio.Value)
		r.explain(res, s, &step)
		r.Steps = append(r.Steps, step)
	}
	r.levels(at)
}

func direction(m record.Metric, ratio float64) compare.Direction {
	if (ratio < 1) == (m.Better == record.HigherIsBetter) {
		return compare.Worse
	}
	return compare.Better
}

// before is the last release before one that has a value.
func (s *Series) before(at int) int {
	for k := at - 1; k > 0; k-- {
		if s.Points[k].Estimate != nil {
			return k
		}
	}
	return 0
}

// jump is the change of level at a break: in each block the mean of the releases
// after it over that of those before, up to the breaks beside it.
func (s *Series) jump(breaks []stats.Break, i int) sample.Estimate {
	from, to := 0, len(s.Points)
	if i > 0 {
		from = breaks[i-1].At
	}
	if i+1 < len(breaks) {
		to = breaks[i+1].At
	}
	var d []float64
	for _, row := range s.logs {
		a, b := s.mean(row, from, breaks[i].At), s.mean(row, breaks[i].At, to)
		if !math.IsNaN(a) && !math.IsNaN(b) {
			d = append(d, b-a)
		}
	}
	center, in, ok := stats.PseudoMedian(d, stats.Level)
	e := sample.Estimate{Value: math.Exp(center)}
	if lo, hi := math.Exp(in.Lo), math.Exp(in.Hi); ok && len(d) >= sample.MinRank && !math.IsInf(hi, 0) {
		e.Lo, e.Hi = &lo, &hi
	}
	return e
}

// mean is that of the releases of a stretch in one block, NaN where one of those that
// count has no value.
func (s *Series) mean(row []float64, from, to int) float64 {
	sum, n := 0.0, 0
	for k := from; k < to; k++ {
		if s.counts(k) {
			sum, n = sum+row[k], n+1
		}
	}
	return sum / float64(n)
}

// counts says whether a release has values in enough blocks, as stats.BlockBreaks
// takes it.
func (s *Series) counts(release int) bool {
	n := 0
	for _, row := range s.logs {
		if !math.IsNaN(row[release]) {
			n++
		}
	}
	return float64(n) > stats.Rarely*float64(len(s.logs))
}

// levels are what lies between the steps of a series.
func (r *Releases) levels(at int) {
	s := &r.Series[at]
	l := Level{First: -1}
	sum, n := 0.0, 0
	end := func() {
		if n > 0 {
			l.Value = math.Exp(sum / float64(n))
			s.Levels = append(s.Levels, l)
		}
		l, sum, n = Level{First: -1}, 0, 0
	}
	for k, p := range s.Points {
		if r.StepAt(at, k) != nil {
			end()
		}
		if p.Estimate == nil || !(p.Value > 0) {
			continue
		}
		if l.First < 0 {
			l.First = k
		}
		l.Last = k
		sum, n = sum+math.Log(p.Value), n+1
	}
	end()
}

// sizes marks each change of the program's size beyond the threshold. No chance is in
// it, so that each release is held against the one before.
func (r *Releases) sizes(at int) {
	s := &r.Series[at]
	for k := 1; k < len(s.Points); k++ {
		ratio := s.Points[k].Value / s.Points[k-1].Value
		if math.Abs(math.Log(ratio)) > math.Log1p(r.Threshold) {
			r.Steps = append(r.Steps, Step{Series: at, Before: k - 1, After: k, Ratio: sample.Estimate{Value: ratio}, Direction: direction(s.Metric, ratio)})
		}
	}
	r.levels(at)
}

// explain says of a duration which part of it changed most between the two releases.
func (r *Releases) explain(res *analyze.Result, s *Series, step *Step) {
	if !analyze.Duration(s.Metric) {
		return
	}
	ids := [2]string{}
	for _, e := range res.Environments {
		for i, k := range []int{step.Before, step.After} {
			if e.Levels[factor] == r.Releases[k].Name && strings.Replace(e.ID, "/"+factor+"-"+e.Levels[factor], "", 1) == s.Env {
				ids[i] = e.ID
			}
		}
	}
	if ids[0] == "" || ids[1] == "" {
		return
	}
	c, err := compare.Within(res, ids[0], ids[1], compare.Options{Filter: []compare.Filter{{Key: "workload", Values: []string{s.Workload}}}})
	if err != nil {
		return // there is no more to say of it
	}
	for _, m := range c.Moved {
		if m.Metric.ID == s.Metric.ID {
			if most := compare.Most(m.Steps, m.By.Value); most != nil {
				step.Most, step.By = most.Name, &most.By.Value
			}
		}
	}
}
