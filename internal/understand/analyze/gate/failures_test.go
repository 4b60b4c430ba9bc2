package gate

import (
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze/analyzetest"
	"plimsoll/internal/understand/analyze/compare"
)

// failing makes each n-th trial of runc fail by a time-out; 0 none.
func failing(every int) func(*recordtest.Spec) {
	return func(s *recordtest.Spec) { s.Envs[3].FailEvery, s.Envs[3].Class = every, record.TimeOut }
}

// Failed trials that BASE had not are said, whatever the times of the others,
// and more than are let pass fail the gate.
func TestGateCountsFailures(t *testing.T) {
	zero, most := 0.0, 0.3
	for _, c := range []struct {
		name      string
		base, now int // each n-th fails
		t         Thresholds
		state     compare.State
		reason    string // of the failures; "" none
	}{
		{"none", 0, 0, Thresholds{}, compare.Passed, ""},
		{"a quarter", 0, 4, Thresholds{}, compare.GateFails, "25 % more of its trials failed than in BASE, and 5 % are tolerated"},
		{"a quarter, as in BASE", 4, 4, Thresholds{}, compare.Passed, ""},
		{"fewer than in BASE", 4, 10, Thresholds{}, compare.Passed, ""},
		{"a tenth", 0, 10, Thresholds{}, compare.GateFails, "10 % more of its trials failed"},
		{"one in twenty", 0, 20, Thresholds{}, compare.Passed, "5 % more of its trials failed than in BASE, and 5 % are tolerated"},
		{"one in twenty, none is let pass", 0, 20, Thresholds{AllowFailures: &zero}, compare.GateFails, "5 % more of its trials failed than in BASE, and 0 % are tolerated"},
		{"a quarter is let pass", 0, 4, Thresholds{AllowFailures: &most}, compare.Passed, "25 % more of its trials failed than in BASE, and 30 % are tolerated"},
		{"of what is ignored", 0, 4, Thresholds{Rules: []Rule{{Environment: "runc", Ignore: true}}}, compare.Passed, ""},
	} {
		base, next := analyzetest.Run(t, analyzetest.Session(1, 1, failing(c.base))), analyzetest.Run(t, analyzetest.Session(2, 1, failing(c.now)))
		changes, err := compare.Between(base, next, compare.Options{Filter: []compare.Filter{{Key: "metric", Values: []string{"startup"}}}})
		require.NoError(t, err)
		c.t.FailAbove = 0.5
		require.NoError(t, Judge(changes, c.t))
		if changes.Gate.State != c.state {
			t.Errorf("%s: %+v", c.name, changes.Gate)
		}
		reason, remarked := "", false
		for _, f := range changes.Failures {
			if f.Gate != nil {
				reason += f.Gate.Reason
			}
		}
		for _, m := range changes.Remarks {
			remarked = remarked || m.Code == "more-failures"
		}
		if !strings.Contains(reason, c.reason) || (reason == "") != (c.reason == "") {
			t.Errorf("%s: the reason is %q, want %q", c.name, reason, c.reason)
		}
		if want := c.now > 0 && (c.base == 0 || c.now < c.base); remarked != want {
			t.Errorf("%s: remarked is %v: %v", c.name, remarked, changes.Remarks)
		}
	}
}

// One flake in the first ten blocks is no tenth of the run: while NEW goes on
// its later trials decide, and the cell stays until then.
func TestGateWaitsForLaterTrials(t *testing.T) {
	base := analyzetest.Run(t, analyzetest.Session(1, 1, nil))
	for _, c := range []struct {
		name  string
		every int
		ended bool
		state compare.State
	}{
		{"one of ten", 10, false, compare.Inconclusive},
		{"five of ten", 2, true, compare.GateFails}, // an eighth of forty, at the least
	} {
		ten := func(s *recordtest.Spec) {
			failing(c.every)(s)
			s.Blocks = 10
		}
		next := analyzetest.Run(t, analyzetest.Session(2, 1, ten))
		next.Run.Protocol.Blocks, next.Run.Status = 40, "running"
		next.Run.Gate = &record.Gate{Looks: len(Looks)}
		changes, err := compare.Between(base, next, compare.Options{Filter: []compare.Filter{{Key: "metric", Values: []string{"startup"}}}})
		require.NoError(t, err)
		require.NoError(t, Judge(changes, Thresholds{FailAbove: 1, Looking: true}))
		look := Look(changes)
		if look.Ended != c.ended || changes.Gate.State != c.state {
			t.Errorf("%s: %+v, %s", c.name, look, changes.Gate.State)
		}
		for _, cell := range look.Cells {
			if cell.Env == "runc" && cell.Left && !c.ended {
				t.Errorf("%s: runc leaves: %+v", c.name, cell)
			}
		}
		// Where it ends there all the same, what is there counts.
		if err := Judge(changes, Thresholds{FailAbove: 1}); err != nil || changes.Gate.State != compare.GateFails {
			t.Errorf("%s: at the end %v, %+v", c.name, err, changes.Gate)
		}
	}
}
