package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/verdict"
	"plimsoll/internal/understand/words"
)

// coarse is from which factor on a column of a picture is said to be so much: what
// differs by less looks the same.
const coarse = 1.05

// legend is what a reader needs to know of a table to read it alone, on one line where
// that has room: what its rows without a rank are, its columns, its blocks, and what
// its names' abbreviations stand for.
func (s *screen) legend(a *verdict.Answer, t laid) string {
	parts := s.baselines(a)
	if t.ranked {
		parts = append(parts, "rank: possible places (95 %)")
	}
	if t.times {
		parts = append(parts, words.Times(a.Table.Metric)+": median of the blocks' ratios")
	}
	if n := s.res.Run.Protocol.PerBlock; n > 1 {
		parts = append(parts, fmt.Sprintf("block: each environment %d times, in random order", n))
	} else {
		parts = append(parts, "block: each environment once, in random order")
	}
	if f := t.axis.factor(); f >= coarse {
		parts = append(parts, "picture: a column is "+words.Factor(f)+" ×")
	}
	if t.names != "" {
		parts = append(parts, t.names)
	}
	return strings.Join(parts, " · ")
}

// baselines say what the rows without a rank are.
func (s *screen) baselines(a *verdict.Answer) (parts []string) {
	has := func(env string) bool {
		return slices.ContainsFunc(a.Table.Cells, func(c analyze.Cell) bool { return c.Env == env })
	}
	var bare []string
	for _, b := range []string{"host", "native"} {
		if has(b) {
			bare = append(bare, b)
		}
	}
	if len(bare) > 0 {
		parts = append(parts, strings.Join(bare, ", ")+": no container")
	}
	if has("floor") {
		parts = append(parts, "floor: the least a container takes")
	}
	return parts
}

// factor is how many times as much the next column of a logarithmic axis is; 1 where
// there is none.
func (a axis) factor() float64 {
	if a.linear || a.cells < 2 {
		return 1
	}
	return math.Exp((a.hi - a.lo) / float64(a.cells-1))
}
