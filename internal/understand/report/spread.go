package report

import (
	"math"
	"slices"
	"strings"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/words"
)

// spread is the axis of the small pictures beside a ranking: how far the
// medians of the blocks lie from the row's own. It is the same for all rows,
// so that their widths and shapes compare, however far the rows lie apart.
type spread struct {
	reach float64 // the middle of an end cell, relative to the median
}

const (
	// spreadCells is how wide a picture is; it is odd, so that there is a middle.
	spreadCells = 11
	// spreadFrom is from how many blocks on there is something to see.
	spreadFrom = 4
	// spreadWithin is the share of the values that the axis must hold: what lies
	// beyond counts into its end cells.
	spreadWithin = 0.95
)

var reaches = []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1}

// spreadFor spans the block medians of all rows; false where there are too few,
// or all are the same.
func spreadFor(cells []*analyze.Cell) (spread, bool) {
	var all []float64
	for _, c := range cells {
		for _, d := range deviations(c) {
			all = append(all, math.Abs(d))
		}
	}
	slices.Sort(all)
	if len(all) == 0 || all[len(all)-1] == 0 {
		return spread{}, false
	}
	most := all[int(math.Ceil(spreadWithin*float64(len(all))))-1]
	for _, r := range reaches {
		if most <= r {
			return spread{r}, true
		}
	}
	return spread{reaches[len(reaches)-1]}, true
}

// deviations are how far the block medians lie from the median, as fractions
// of it; nil where they are too few or it is not positive.
func deviations(c *analyze.Cell) []float64 {
	if c == nil || c.Median == nil || c.Blocks < spreadFrom || c.Median.Value <= 0 {
		return nil
	}
	var out []float64
	for _, m := range c.BlockMedians {
		if m != nil {
			out = append(out, *m/c.Median.Value-1)
		}
	}
	return out
}

var eighths = []rune("▁▂▃▄▅▆▇█")

// draw counts a row's block medians: the highest column is that with the most.
func (s spread) draw(c *analyze.Cell) string {
	var n [spreadCells]int
	most := 0
	for _, d := range deviations(c) {
		const half = spreadCells / 2
		i := half + int(math.Round(min(max(d/s.reach, -1), 1)*half))
		n[i]++
		most = max(most, n[i])
	}
	var b strings.Builder
	for _, k := range n {
		if k == 0 {
			b.WriteByte(' ')
			continue
		}
		b.WriteRune(eighths[(k*len(eighths)+most-1)/most-1])
	}
	return b.String()
}

// ticks writes both ends of the axis.
func (s spread) ticks() string {
	end := words.Short(100*s.reach) + "%"
	return "-" + end + strings.Repeat(" ", spreadCells-2-2*len(end)) + "+" + end
}

// legend explains the pictures.
func (s spread) legend() string {
	end := words.Short(100*s.reach) + " %"
	return "Last column: the medians of the blocks, from " + end + " below to " + end + " above the row's own median; what lies further out is counted at the ends."
}
