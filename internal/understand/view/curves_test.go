package view_test

import (
	"math"
	"testing"

	"plimsoll/internal/understand/view"
	"plimsoll/internal/understand/view/viewtest"
)

// The made-up payload is busiest 0.6 s after its request, with nine tenths of
// a processor.
func TestCurves(t *testing.T) {
	d := build(t, made(t, viewtest.Small), view.Options{})
	seen := map[string]int{}
	for _, c := range d.Works[0].Curves {
		seen[c.Column]++
		if c.Trials != 4 || c.Lo == nil {
			t.Errorf("%s has %d trials", c.Column, c.Trials)
		}
		top, at := 0.0, 0.0
		for i, v := range c.V {
			if v > top {
				top, at = v, c.T[i]
			}
			if c.Lo[i] > v || c.Hi[i] < v {
				t.Errorf("%s: %g is not between %g and %g", c.Column, v, c.Lo[i], c.Hi[i])
			}
		}
		switch c.Column {
		case "payload-cpu":
			if c.Unit != "CPUs" || math.Abs(at-0.6) > 0.1 || math.Abs(top-0.9) > 0.1 {
				t.Errorf("a peak of %g %s at %g s", top, c.Unit, at)
			}
		case "payload-memory":
			if c.Unit != "bytes" || math.Abs(top-40e6) > 2e6 {
				t.Errorf("%g %s", top, c.Unit)
			}
		case "daemon-cpu":
			if d.Envs[c.Env].Engine != "docker" {
				t.Errorf("%s has no daemon", d.Envs[c.Env].Engine)
			}
		}
	}
	// One environment always fails.
	if seen["payload-cpu"] != 7 || seen["host-busy"] != 7 || seen["daemon-cpu"] != 1 || seen["client-cpu"] != 0 {
		t.Errorf("%v", seen)
	}
}
