package report

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/verdict"
	"plimsoll/internal/understand/words"
)

// roomy is from how many characters on a legend also says what can be looked up.
const roomy = 100

// legend is what a reader needs to know of a table to read it alone, on one line where
// that has room: what its rows without a rank are, its columns, its blocks, and what
// its names' abbreviations stand for.
func (s *screen) legend(a *verdict.Answer, t laid) string {
	parts := s.baselines(a)
	if text := s.typedLegend(a); text != "" && s.Width >= roomy {
		parts = append(parts, text)
	}
	if m := a.Table.Metric; m.From == record.Request && m.To == record.Ready {
		parts = append(parts, m.Title+": request to first byte")
	}
	if t.ranked {
		parts = append(parts, "rank: possible places (95 %)")
	}
	if t.times {
		what := "times the first's value"
		if a.Table.Metric.Better == record.HigherIsBetter {
			what = "times worse than the first"
		}
		parts = append(parts, words.Times(a.Table.Metric)+": "+what+", block by block")
	}
	if t.lacks != unsaid {
		parts = append(parts, s.lacksLegend(a, t.lacks))
	}
	if t.axis.cells > 0 {
		parts = append(parts, t.axis.legend())
	}
	if n := s.res.Run.Protocol.PerBlock; n > 1 {
		parts = append(parts, fmt.Sprintf("block: each %d times, in random order", n))
	} else {
		parts = append(parts, "block: each once, in random order")
	}
	if t.names != "" {
		parts = append(parts, t.names)
	}
	return strings.Join(parts, " · ")
}

// legend says what a picture's signs are, and how much a column of it is.
func (a axis) legend() string {
	text := "● median, ├ ┤ its 95 %"
	if a.base > 0 {
		text += ", │ " + words.Clean(a.name)
	}
	return text
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
