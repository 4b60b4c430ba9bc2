package report

import (
	"strings"
	"testing"
	"unicode/utf8"

	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/evaluate"
)

// protocolsResult is a run with ramps and open loops.
func protocolsResult(t *testing.T, ramps int) *analyze.Result {
	t.Helper()
	r := recordtest.Protocols(t, ramps, nil)
	res, err := evaluate.Run(r, evaluate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestGoldenProtocols(t *testing.T) {
	for _, c := range []struct {
		name, format string
		ramps        int
		opts         Options
	}{
		{"density.txt", "text", 7, Options{NoPlot: true}},
		{"density-one-60.txt", "text", 1, Options{NoPlot: true, Width: 60, ASCII: true}},
		{"density.md", "markdown", 7, Options{}},
	} {
		got := render(t, c.format, protocolsResult(t, c.ramps), c.opts)
		isGolden(t, c.name, got)
		if c.opts.Width > 0 {
			for _, l := range strings.Split(got, "\n") {
				if utf8.RuneCountInString(l) > c.opts.Width {
					t.Errorf("%s: a line is wider than %d: %s", c.name, c.opts.Width, l)
				}
			}
		}
	}
}
