package report

import (
	"strings"
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
)

// A run whose number of blocks was left open says how many it took and could
// have taken, and a gate by which look it was decided.
func TestLooksAreShown(t *testing.T) {
	r := analyze.RunInfo{Blocks: 20, Protocol: record.Protocol{Blocks: 80, Until: 0.02}}
	if got := protocol(&analyze.Result{Run: r}); !strings.Contains(got, "20 of at most 80 blocks of 1 trial each") {
		t.Error(got)
	}
	r.Protocol.Until = 0
	if got := protocol(&analyze.Result{Run: r}); !strings.Contains(got, "80 blocks of 1 trial each") || strings.Contains(got, "at most 80") {
		t.Error(got)
	}
	g := &compare.Gate{State: compare.Passed, Gated: 3, Looks: 3, Look: 2, Level: 1 - 0.05/3}
	if got := gateLine(g); got != "gate: pass (3 cells; by look 2 of 3, each at 98.33 %)" {
		t.Error(got)
	}
	g.Level = 0.99 // a tenth of it was the first look's
	if got := gateLine(g); got != "gate: pass (3 cells; by look 2 of 3, at 99 %)" {
		t.Error(got)
	}
	g.Looks = 0
	if got := gateLine(g); got != "gate: pass (3 cells)" {
		t.Error(got)
	}
}

// A report says what part of the time was trials, where the run knows.
func TestTimeIsShown(t *testing.T) {
	r := analyze.RunInfo{ID: "0a1b2c3d", Time: &analyze.Spent{Wall: 1000, Trials: 876, Calm: 104}}
	if got := when(&analyze.Result{Run: r}); !strings.Contains(got, "(of the time from first to last trial 88 % trials, 10 % waiting for a calm machine)") {
		t.Error(got)
	}
	r.Time = nil
	if got := when(&analyze.Result{Run: r}); strings.Contains(got, "%") {
		t.Error(got)
	}
}
