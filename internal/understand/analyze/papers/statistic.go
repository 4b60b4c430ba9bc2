package papers

import (
	"cmp"
	"math"
	"slices"

	"plimsoll/internal/common/published"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
)

// AddStatistics sets the paper's own estimator of our values beside each median:
// a mean compares with a mean, whatever it is worth. Values gives those of one
// workload, environment and metric.
func AddStatistics(r *analyze.Result, run *record.Run, values func(work, env, metric string) []float64) {
	for i := range r.Papers {
		t, spec := &r.Papers[i], &run.Study.Tables[i] // Of made one for each
		source, _ := published.SourceOf(t.Source)
		if t.Statistic = cmp.Or(spec.Statistic, source.Statistic); t.Statistic == "" {
			continue
		}
		for k := range t.Cells {
			c := &t.Cells[k]
			if c.Here == nil || c.Metric == record.Failures.ID { // a share is of all trials, and no mean
				continue
			}
			row := spec.Rows[slices.IndexFunc(spec.Rows, func(x record.PaperRow) bool { return x.Published == c.Row })]
			own := values(c.Workload, c.Env, c.Metric)
			if row.As == "" {
				metric := r.Workload(c.Workload).Table(c.Metric).Metric
				by, _ := inUnit(metric.Unit, c.Unit) // Of asked
				c.Same = estimate(t.Statistic, own, by)
				continue
			}
			c.Same = lost(t.Statistic, r, c, own, row.As, values)
		}
		if t.Statistic == record.StatZMean {
			t.Apart = apart(t)
		}
	}
}

// estimate is the estimator of some values, times a factor; nil where it has
// none.
func estimate(by record.Statistic, x []float64, factor float64) *analyze.PaperStat {
	var s analyze.PaperStat
	switch by {
	case record.StatGeometricMean:
		s.Value = stats.GeometricMean(x)
	case record.StatWithoutLargest:
		s.Value, s.Dropped = stats.MeanWithoutLargest(x)
	case record.StatMedian:
		s.Value = stats.Median(stats.Sorted(x))
	default:
		mean, sd, half := stats.ZMean(x)
		if s.Value = mean; by == record.StatZMean && !math.IsNaN(half) {
			sd, half = sd*factor, half*factor
			s.SD, s.CI95 = &sd, &half
		}
	}
	if s.Value *= factor; math.IsNaN(s.Value) || math.IsInf(s.Value, 0) {
		return nil
	}
	return &s
}

// lost is the percentage that a paper makes of two numbers: of the estimator in
// an environment and of the same in native.
func lost(by record.Statistic, r *analyze.Result, c *analyze.PaperCell, own []float64, as string, values func(work, env, metric string) []float64) *analyze.PaperStat {
	i := slices.IndexFunc(r.Environments, func(e record.Environment) bool { return e.Baseline == "native" })
	if i < 0 {
		return nil
	}
	here, native := estimate(by, own, 1), estimate(by, values(c.Workload, r.Environments[i].ID, c.Metric), 1)
	if here == nil || native == nil || native.Value == 0 || here.Value == 0 {
		return nil
	}
	loss := 1 - native.Value/here.Value
	if r.Workload(c.Workload).Table(c.Metric).Metric.Better == record.HigherIsBetter {
		loss = 1 - here.Value/native.Value
	}
	if as == record.PaperDifference {
		loss = -loss
	}
	return &analyze.PaperStat{Value: 100 * loss, Dropped: here.Dropped}
}

// apart goes through the pairs of engines of each row and image.
func apart(t *analyze.PaperTable) []analyze.PaperApart {
	var out []analyze.PaperApart
	for i := range t.Cells {
		a := &t.Cells[i]
		if !bothIntervals(a) {
			continue
		}
		k := slices.IndexFunc(out, func(x analyze.PaperApart) bool { return x.Row == a.Row && x.Image == a.Image })
		if k < 0 {
			k = len(out)
			out = append(out, analyze.PaperApart{Row: a.Row, Image: a.Image})
		}
		for j := range t.Cells[:i] {
			if b := &t.Cells[j]; bothIntervals(b) && b.Row == a.Row && b.Image == a.Image {
				add(&out[k], b, a)
			}
		}
	}
	return slices.DeleteFunc(out, func(x analyze.PaperApart) bool { return x.Pairs == 0 })
}

func bothIntervals(c *analyze.PaperCell) bool {
	return c.CI95 != nil && c.Same != nil && c.Same.CI95 != nil
}

// add counts one pair.
func add(p *analyze.PaperApart, a, b *analyze.PaperCell) {
	theirs := order(a.Published, *a.CI95, b.Published, *b.CI95)
	ours := order(a.Same.Value, *a.Same.CI95, b.Same.Value, *b.Same.CI95)
	p.Pairs++
	if theirs != 0 {
		p.Theirs++
	}
	if ours != 0 {
		p.Ours++
	}
	if theirs != ours {
		p.Otherwise = append(p.Otherwise, a.Engine+" and "+b.Engine)
	}
}

// order is 0 where two intervals have a value in common, else the sign of the
// difference.
func order(a, halfA, b, halfB float64) int {
	switch {
	case a+halfA < b-halfB:
		return -1
	case a-halfA > b+halfB:
		return 1
	}
	return 0
}
