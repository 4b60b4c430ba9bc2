package papers

import (
	"math"
	"slices"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/published"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// AddRatios sets the ratios that a study names beside ours: on another machine
// times are others, and how many times as long one thing takes as another may
// be the same.
func AddRatios(r *analyze.Result, run *record.Run) {
	for i := range r.Papers {
		t, spec := &r.Papers[i], &run.Study.Tables[i] // Of made one for each
		if len(spec.Ratios) == 0 {
			continue
		}
		raw := Raw(t)
		for _, pair := range spec.Ratios {
			for k := range t.Cells {
				a := &t.Cells[k]
				stars, ok := record.MatchEngine(pair.Of, a.Engine)
				if !ok {
					continue
				}
				for j := range t.Cells {
					b := &t.Cells[j]
					same, ok := record.MatchEngine(pair.To, b.Engine)
					if ok && slices.Equal(stars, same) && a != b && a.Row == b.Row && a.Image == b.Image && a.Unit == b.Unit {
						q := paperRatio(r, a, b, raw(a), raw(b))
						q.Pair, q.Same = pair, strings.Join(stars, "/")
						t.Ratios = append(t.Ratios, q)
					}
				}
			}
		}
	}
}

// Raw finds the study's own raw values of a cell of a published table, in the
// published unit; there are none where they are not public.
func Raw(t *analyze.PaperTable) func(*analyze.PaperCell) []float64 {
	raw := map[[3]string][]float64{}
	for _, v := range published.Find(published.Query{Source: t.Source, Table: t.Table}) {
		raw[[3]string{v.Name(), v.Image, v.Row()}] = v.Raw
	}
	return func(c *analyze.PaperCell) []float64 { return raw[[3]string{c.Engine, c.Image, c.Row}] }
}

// paperRatio is A over B, there and here.
func paperRatio(r *analyze.Result, a, b *analyze.PaperCell, rawA, rawB []float64) analyze.PaperRatio {
	out := analyze.PaperRatio{Of: a.Engine, To: b.Engine, Image: a.Image, Row: a.Row, Theirs: theirRatio(a, b, rawA, rawB)}
	switch {
	case a.Here == nil:
		out.Missing = a.Missing
	case b.Here == nil:
		out.Missing = b.Missing
	case strings.Contains(a.Unit, "%") || a.Metric == record.Failures.ID:
		out.Missing = "a share has no ratio over blocks"
	default:
		w, v := r.Workload(a.Workload), r.Workload(b.Workload)
		c, _ := analyze.Compare(w.Table(a.Metric).Cell(a.Env).ByBlock, v.Table(b.Metric).Cell(b.Env).ByBlock, r.Run.Delta)
		if out.Missing = c.Missing; c.Missing == "" {
			out.Here, out.Blocks = &c.Estimate, c.Blocks
			out.Way = wayOf(out.Theirs, c.Estimate)
		}
	}
	return out
}

// theirRatio is a published ratio. The raw values of two configurations are two
// independent samples.
func theirRatio(a, b *analyze.PaperCell, rawA, rawB []float64) sample.Estimate {
	positive := func(x []float64) bool {
		return len(x) > 0 && !slices.ContainsFunc(x, func(v float64) bool { return v <= 0 })
	}
	if !positive(rawA) || !positive(rawB) {
		return sample.Estimate{Value: a.Published / b.Published}
	}
	d, i, ok := stats.Shift(lists.Map(rawA, math.Log), lists.Map(rawB, math.Log), stats.Level)
	e := sample.Estimate{Value: math.Exp(d)}
	if ok {
		e.Lo, e.Hi = new(math.Exp(i.Lo)), new(math.Exp(i.Hi))
	}
	return e
}

// wayOf compares the sides of 1 on which two ratios lie.
func wayOf(theirs, ours sample.Estimate) analyze.Way {
	side := func(e sample.Estimate) int {
		switch {
		case e.Lo == nil || e.Hi == nil:
			return 0
		case *e.Lo > 1:
			return 1
		case *e.Hi < 1:
			return -1
		}
		return 0
	}
	x, y := side(theirs), side(ours)
	switch {
	case x == 0 || y == 0:
		return analyze.OpenWay
	case x == y:
		return analyze.SameWay
	}
	return analyze.OtherWay
}
