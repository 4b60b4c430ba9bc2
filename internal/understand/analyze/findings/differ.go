package findings

import (
	"math"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// differ tests A less B in place of a ratio, block by block, where a counter
// stood still: to be above 1 times something is to be above it. It does so only
// for a range with that one bound, and where nothing is negative; false is where
// a ratio alone would tell.
func (p *pair) differ(r *record.Range, a, b *analyze.Cell) bool {
	if r.Min != nil && r.Max != nil || r.Min != nil && *r.Min != 1 || r.Max != nil && *r.Max != 1 {
		return false
	}
	var d []float64
	for i := range min(len(a.ByBlock), len(b.ByBlock)) {
		x, y := a.ByBlock[i], b.ByBlock[i]
		if math.IsNaN(x) || math.IsNaN(y) {
			continue
		}
		if x < 0 || y < 0 {
			return false
		}
		d = append(d, x-y)
	}
	if len(d) == 0 {
		return false
	}
	zero := 0.0
	p.bounds = bounds{Range: *r}
	if r.Min != nil {
		p.bounds.Min = &zero
	}
	if r.Max != nil {
		p.bounds.Max = &zero
	}
	p.sample = sample.Sample{X: d, Paired: true}
	p.fixed = len(d) >= sample.MinRank && sample.Identical(a.Medians, a.Medians) && sample.Identical(b.Medians, b.Medians)
	return true
}
