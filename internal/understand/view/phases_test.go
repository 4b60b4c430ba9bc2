package view_test

import (
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/view"
	"plimsoll/internal/understand/view/viewtest"
)

// A step that is a metric has that metric's median, and the steps of each
// environment follow one another from the request to the end.
func TestPhases(t *testing.T) {
	d := build(t, made(t, viewtest.Spec{Envs: 12, Workloads: 3, Blocks: 6}), view.Options{})
	p := d.Works[0].Phases
	if p == nil || d.Works[2].Phases != nil {
		t.Fatal("phases are of life cycles, and not of benchmarks")
	}
	checked := 0
	for e, env := range d.Envs {
		at, n := record.Request, 0
		for s, step := range p.Steps {
			v := p.Medians[e][s]
			if v == nil {
				continue
			}
			n++
			if step.From != at || *v < 0 {
				t.Errorf("%s: %s of %g follows %s", env.ID, step.Title, *v, at)
			}
			at = step.To
			if env.Clock == record.ClockForeign && (step.From.Inside() || step.To.Inside()) {
				t.Errorf("%s has a clock of its own, and the step %s", env.ID, step.Title)
			}
			if b := table(&d.Works[0], step.Metric); b != nil && b.Median[e] != nil {
				near(t, b.Median[e], v)
				checked++
			}
		}
		if failed := d.Works[0].Counts[e].Failed == d.Works[0].Counts[e].Trials; failed != (n == 0) || !failed && at != record.Removed && at != record.Exit {
			t.Errorf("%s: %d steps, the last to %s", env.ID, n, at)
		}
		if env.Engine == "cri" && at == record.Removed && n < 5 {
			t.Errorf("cri has %d steps", n)
		}
	}
	if checked < 10 {
		t.Errorf("%d steps are metrics", checked)
	}
}

func TestNoPhasesWithoutEvents(t *testing.T) {
	if d := build(t, imported(), view.Options{}); d.Works[0].Phases != nil {
		t.Error("phases without events")
	}
	s := recordtest.Typical()
	s.Envs = s.Envs[11:] // always fails
	if d := build(t, s.Open(t), view.Options{}); d.Works[0].Phases != nil {
		t.Error("phases of trials that failed")
	}
}
