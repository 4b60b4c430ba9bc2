package calibrate

import (
	"strings"
	"testing"
)

// TestHumpsOnAWalk: two humps on a machine that walks may be said to differ in twice as
// many cases as all else, and in no more.
func TestHumpsOnAWalk(t *testing.T) {
	good, few := Tally{N: 1000, Hit: 950}, Tally{N: 1000, Hit: 40}
	for _, c := range []struct {
		shape, drift string
		changed      int
		misses       bool
	}{
		{"two humps", "walk", 90, false},
		{"two humps 70:30", "walk", 90, false},
		{"two humps", "walk", 140, true},
		{"two humps", "blocks", 90, true},
		{"log-normal", "walk", 90, true},
	} {
		r := &Report{Shapes: Shapes(), Pairs: []*Pair{{Shape: c.shape, Drift: c.drift, Blocks: 20, Learnt: good, Known: good, Busy: good, Crowded: good,
			Changed: Tally{N: 1000, Hit: c.changed}, KnownChanged: few, BusyChanged: few, CrowdedChanged: few}}}
		r.judge()
		if (len(r.Misses) > 0) != c.misses || c.misses && (len(r.Misses) != 1 || !strings.Contains(r.Misses[0], "said to differ")) {
			t.Errorf("%s on %s, %d of 1000: %q", c.shape, c.drift, c.changed, r.Misses)
		}
	}
}
