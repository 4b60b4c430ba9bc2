package findings_test

import (
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
)

// A claim of failures is judged by the trials that were counted: supported,
// contradicted and left open as Wilson's interval lies, with none and with all
// of the trials failed too.
func TestFailureShare(t *testing.T) {
	atLeast := func(v float64) *record.Range {
		return &record.Range{Text: "> x", Min: &v, MinOpen: true, Unit: "percent"}
	}
	atMost := func(v float64) *record.Range { return &record.Range{Text: "<= x", Max: &v, Unit: "percent"} }
	for _, c := range []struct {
		name   string
		failed int // of 200
		value  *record.Range
		want   analyze.ClaimVerdict
	}{
		{"none, and few are claimed", 0, atMost(2), analyze.ClaimSupported},
		{"none, and many are claimed", 0, atLeast(5), analyze.ClaimContradicted},
		{"some, and more are claimed", 20, atLeast(5), analyze.ClaimSupported},
		{"some, near the bound", 8, atLeast(3.6), analyze.ClaimInconclusive},
		{"all, and none are claimed", 200, atMost(0), analyze.ClaimContradicted},
		{"too few to exclude a rare failure", 0, atMost(1), analyze.ClaimInconclusive},
	} {
		run := claimRun(base, 0.01, func(r *recordtest.Cells) {
			r.Blocks = 200
			r.Fails = func(e *record.Environment, w *record.Workload, block int) bool {
				return e.ID == "podman/alpine" && w.ID == "hello" && block < c.failed
			}
		})
		test := record.ClaimTest{Of: of("engine", "podman", "image", "alpine"), Workload: choice("hello"), Metric: record.Failures.ID, Value: c.value}
		f := finding(t, run, test)
		if f.Verdict != c.want || len(f.Pairs) != 1 {
			t.Errorf("%s: %s with %d pairs: %s", c.name, f.Verdict, len(f.Pairs), f.Reason)
			continue
		}
		p := f.Pairs[0]
		if p.Blocks != 200 || p.Unit != "percent" || p.Method != "wilson" || p.Estimate == nil || p.Estimate.Value != float64(c.failed)/2 {
			t.Errorf("%s: %+v", c.name, p)
		}
	}
	// No failures say nothing against some that are rare enough.
	none := finding(t, claimRun(base, 0.01, nil), record.ClaimTest{Of: of("engine", "podman", "image", "alpine"), Workload: choice("hello"), Metric: record.Failures.ID, Value: atLeast(0)})
	if p := none.Pairs; none.Verdict != analyze.ClaimInconclusive || len(p) != 1 || p[0].Holm == nil || *p[0].Holm != 1 {
		t.Errorf("none, and some are claimed: %+v", none)
	}
	// Of several pairs one contradicts, corrected by Holm over all.
	run := claimRun(base, 0.01, func(r *recordtest.Cells) {
		r.Blocks = 200
		r.Fails = func(e *record.Environment, w *record.Workload, block int) bool {
			return e.ID == "podman/alpine" && w.ID == "hello" && block < 30
		}
	})
	f := finding(t, run, record.ClaimTest{Of: of("engine", "podman,docker"), Workload: choice("hello"), Metric: record.Failures.ID, Value: atMost(2)})
	if f.Verdict != analyze.ClaimContradicted || len(f.Pairs) != 4 || f.Decides.A.Env != "podman/alpine" || f.Decides.Holm == nil {
		t.Errorf("%+v", f)
	}
}
