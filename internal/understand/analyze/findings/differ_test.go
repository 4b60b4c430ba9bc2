package findings_test

import (
	"strings"
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
)

// A counter that stands still on one side has no ratio. Whether A is above or
// below B is told by the difference then, in the metric's unit; how many times
// it is above is not.
func TestDifference(t *testing.T) {
	one, two := 1.0, 2.0
	test := func(a, b string, r *record.Range) record.ClaimTest {
		return record.ClaimTest{Of: of("engine", a), To: of("engine", b), Workload: choice("work", "size", "small"), Metric: "change", Ratio: r}
	}
	above := &record.Range{Text: "> 1", Min: &one, MinOpen: true}
	still := with(truths{"docker change": 3e6, "podman change": 0, "native change": 0})
	for _, c := range []struct {
		name   string
		test   record.ClaimTest
		values truths
		want   analyze.ClaimVerdict
	}{
		{"above what stands still", test("docker", "podman", above), still, analyze.ClaimSupported},
		{"what stands still is below", test("podman", "docker", below(1)), still, analyze.ClaimSupported},
		{"what stands still is not above", test("podman", "docker", above), still, analyze.ClaimContradicted},
		{"as still as the other", test("podman", "docker", above), with(truths{"docker change": 0, "podman change": 0}), analyze.ClaimContradicted},
		{"how many times it is above", test("docker", "podman", &record.Range{Text: "> 2", Min: &two, MinOpen: true}), still, analyze.ClaimInconclusive},
		{"equal to some per cent", test("docker", "podman", within(0.5, 1)), still, analyze.ClaimInconclusive},
		{"negative", test("docker", "podman", above), with(truths{"docker change": 3e6, "podman change": -1}), analyze.ClaimInconclusive},
	} {
		f := finding(t, claimRun(c.values, 0.02, nil), c.test)
		if f.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %s %+v", c.name, f.Verdict, c.want, f.Reason, f.Pairs)
		}
		for _, p := range f.Pairs {
			switch {
			case c.want == analyze.ClaimInconclusive && !strings.Contains(p.Reason, "no ratio"):
				t.Errorf("%s: %s", c.name, p.Reason)
			case c.want != analyze.ClaimInconclusive && (p.Unit != "bytes" || p.Estimate == nil):
				t.Errorf("%s: the pair has the unit %q and the estimate %v, expected a difference in bytes", c.name, p.Unit, p.Estimate)
			}
		}
	}
}

// TestNoDifference: of pairs that all are so, two counters that both stand still are the
// least clear one.
func TestNoDifference(t *testing.T) {
	one := 1.0
	run := claimRun(with(truths{"docker/alpine work/small change": 3e6, "docker change": 0, "podman change": 0}), 0.02, nil)
	f := finding(t, run, record.ClaimTest{Of: of("engine", "docker"), To: of("engine", "podman"), Workload: choice("work", "size", "small"), Metric: "change",
		Ratio: &record.Range{Text: ">= 1", Min: &one}})
	if f.Verdict != analyze.ClaimSupported || len(f.Pairs) != 2 || f.Decides.A.Env != "docker/debian" {
		t.Errorf("%s by %+v: %s", f.Verdict, f.Decides, f.Reason)
	}
}
