//go:build linux

package cli

import (
	"strings"
	"testing"

	"plimsoll/internal/record"
)

// TestExplainIsBounded: who does not say how many starts waits a minute at most, and
// who does gets as many.
func TestExplainIsBounded(t *testing.T) {
	for _, c := range []struct {
		asked  bool
		atOnce int
		want   string
	}{
		{false, 1, "{time-budget: 1m0s, max-blocks: 20, warmup: 2}"},
		{true, 1, "{blocks: 20, warmup: 2}"},
		{false, 8, "{blocks: 40, warmup: 2}"},
	} {
		f := explainFlags{starts: 10, asked: c.asked, atOnce: c.atOnce}
		if text, err := f.study([][]string{{"lxd"}}); err != nil || !strings.Contains(text, c.want) {
			t.Errorf("asked %v, %d at once: %v, %s; expected %s", c.asked, c.atOnce, err, text, c.want)
		}
	}
}

// TestPaired: where time is up after a traced start its untraced neighbour is missing,
// and what tracing costs is told all the same, by the others.
func TestPaired(t *testing.T) {
	for traced, left := range map[int]int{2: 2, 3: 2, 4: 4} { // of 4 more than one is missing
		s := starts{traces: make([]*record.Trace, traced), untraced: []int64{1, 2}}
		if s.pair(); len(s.traces) != left {
			t.Errorf("of %d traced and 2 untraced starts %d traced are left, expected %d", traced, len(s.traces), left)
		}
	}
}
