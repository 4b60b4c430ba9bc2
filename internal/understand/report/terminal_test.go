package report

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/words"
)

var ansi = regexp.MustCompile("\x1b\\[[0-9;]*m")

// What a terminal shows, by its width and by what it is able to.
func TestTerminal(t *testing.T) {
	res := result(t, small())
	for name, opts := range map[string]Options{
		"small-40.txt": {Width: 40}, "small-60.txt": {Width: 60}, "small-80.txt": {Width: 80, ASCII: true}, "small-120.txt": {Width: 120, Color: true}, "small-180.txt": {Width: 180},
	} {
		opts.Marks = true
		isGolden(t, name, render(t, "text", res, opts))
	}
	isGolden(t, "terminal-120.txt", render(t, "text", result(t, recordtest.Typical()), Options{Width: 120, Marks: true}))
}

// No line is wider than the terminal, whatever the run.
func TestTerminalFits(t *testing.T) {
	for _, s := range []opener{recordtest.Typical(), recordtest.Audited(), recordtest.Suite(), pull(), values(), few(), steps()} {
		res := result(t, s)
		for width := minWidth; width <= 200; width += 7 {
			for i, l := range strings.Split(render(t, "text", res, Options{Width: width, Marks: true}), "\n") {
				if n := utf8.RuneCountInString(l); n > width {
					t.Fatalf("%s, %d columns: line %d has %d: %s", res.Run.Study, width, i+1, n, l)
				}
			}
		}
	}
}

// Only these colours occur: blue and orange beside bold and dim.
func TestColours(t *testing.T) {
	known := map[string]bool{"\x1b[0m": true, "\x1b[1m": true, "\x1b[2m": true, "\x1b[38;5;166m": true, "\x1b[38;5;33m": true}
	text := render(t, "text", result(t, recordtest.Typical()), Options{Width: 120, Color: true, Marks: true})
	seen := map[string]bool{}
	for _, code := range ansi.FindAllString(text, -1) {
		if seen[code] = true; !known[code] {
			t.Errorf("%q is none of the styles", code)
		}
	}
	if len(seen) != len(known) {
		t.Errorf("only %d of %d styles occur", len(seen), len(known))
	}
}

// The pictures of all rows have one axis, which holds nearly all values; what
// lies beyond is counted at the ends.
func TestSpread(t *testing.T) {
	cell := func(median float64, blocks ...float64) *analyze.Cell {
		c := &analyze.Cell{Median: &sample.Estimate{Value: median}, Blocks: len(blocks)}
		for _, b := range blocks {
			c.BlockMedians = append(c.BlockMedians, &b)
		}
		return c
	}
	narrow := cell(100, 99.5, 100, 100, 100.5)
	wide := cell(1000, 920, 1000, 1000, 1080, 4000)
	wide.BlockMedians = append(wide.BlockMedians, nil) // a block without a value
	short := cell(10, 1, 10, 20)
	var many []*analyze.Cell
	for range 4 {
		many = append(many, narrow, wide)
	}
	s, ok := spreadFor(append(many, short))
	if !ok || s.reach != 1 { // 4 of 36 values lie beyond 10 %: more than 5 %
		t.Fatalf("%v %v", s, ok)
	}
	s, _ = spreadFor(append(many, narrow, narrow, narrow, narrow, narrow, narrow, narrow, narrow, narrow, narrow, narrow, narrow))
	if s.reach != 0.1 || s.ticks() != "-10%   +10%" {
		t.Errorf("%v %q", s, s.ticks())
	}
	for _, c := range []*analyze.Cell{short, {}} {
		if got := s.draw(c); strings.TrimSpace(got) != "" {
			t.Errorf("too few, and yet %q", got)
		}
	}
	if got := s.draw(wide); got != " ▄   █   ▄▄" {
		t.Errorf("%q", got)
	}
	if got := s.draw(narrow); got != "     █     " { // half a per cent is less than half a cell of 2 %
		t.Errorf("%q", got)
	}
	if _, ok := spreadFor([]*analyze.Cell{cell(5, 5, 5, 5, 5), short, nil}); ok {
		t.Error("a picture of nothing")
	}
	for _, r := range reaches {
		if n := words.Width(spread{r}.ticks()); n != spreadCells {
			t.Errorf("the axis of %v is %d wide", r, n)
		}
	}
}

// A narrow page says what it has no room for.
func TestLeftOut(t *testing.T) {
	res := result(t, recordtest.Typical())
	for width, want := range map[int][]string{
		40:  {"the intervals of the medians", "the middle of long names", "the numbers of the remarks"},
		60:  {"the ratios, which stand below", "the middle of long names"},
		180: nil,
	} {
		text := strings.Join(strings.Fields(render(t, "text", res, Options{Width: width})), " ")
		if (len(want) > 0) != strings.Contains(text, "Left out in so narrow a terminal") {
			t.Errorf("%d columns:\n%s", width, text)
		}
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%d columns: no %q", width, w)
			}
		}
	}
}

// The feature table that lies beside a record is part of its report.
func TestReportWithFeatures(t *testing.T) {
	res := fresh(t, recordtest.Typical())
	res.Features = someFeatures()
	for format, want := range map[string][]string{
		"text":     {featuresHead(res.Features), "part [yes]"},
		"markdown": {"## ", `part \[yes\]`},
		"latex":    {"tab:plimsoll-features", "part [yes]"},
		"json":     {`"features": {`},
	} {
		text := render(t, format, res, Options{})
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: no %q", format, w)
			}
		}
		if one := render(t, format, res, Options{Metric: "startup"}); format != "json" && strings.Contains(one, "Signed container images") {
			t.Errorf("%s: features below one metric", format)
		}
	}
}

// A brief report is the rankings and what is to be said of them.
func TestBrief(t *testing.T) {
	res := result(t, recordtest.Typical())
	long, brief := render(t, "markdown", res, Options{}), render(t, "markdown", res, Options{Brief: true})
	for _, s := range []string{"## hello: start-up", "Brackets:", "## Remarks", "Machine: "} {
		if !strings.Contains(brief, s) {
			t.Errorf("no %q", s)
		}
	}
	for _, s := range []string{"### More on", "### Phases", "## What ran"} {
		if strings.Contains(brief, s) || !strings.Contains(long, s) {
			t.Errorf("%q", s)
		}
	}
}
