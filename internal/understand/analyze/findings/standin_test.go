package findings_test

import (
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/evaluate"
)

// What stands in for a program of the paper is shown, and is in no verdict:
// whatever it says, the claim is what the other pairs make of it, or not tested.
func TestStandIns(t *testing.T) {
	start := record.ClaimTest{Of: of("engine", "docker"), Workload: choice("hello"), Metric: "startup", Value: below(2e8)}
	size := record.ClaimTest{Of: of("engine", "docker"), Workload: choice("work", "size", "small"), Metric: "size", Value: below(6e6)}
	other := record.StandIn{Aspect: "program", Workload: choice("work"), Paper: "Bench 1.0", Here: "a program of our own", Why: "it is static."}
	metric, param, podman := other, other, other
	metric.Metrics, param.Workload, podman.Of = []string{"speed"}, choice("work", "size", "large"), of("engine", "podman")
	slow, large := with(truths{"docker startup": 9e8}), with(truths{"docker size": 9e6})
	for _, c := range []struct {
		name    string
		tests   []record.ClaimTest
		stands  []record.StandIn
		v       truths
		want    analyze.ClaimVerdict
		partly  bool
		instead analyze.ClaimVerdict
	}{
		{"nothing stands in", []record.ClaimTest{start, size}, nil, base, analyze.ClaimSupported, false, ""},
		{"in part", []record.ClaimTest{start, size}, []record.StandIn{other}, base, analyze.ClaimSupported, true, analyze.ClaimSupported},
		{"a stand-in contradicts nothing", []record.ClaimTest{start, size}, []record.StandIn{other}, large, analyze.ClaimSupported, true, analyze.ClaimContradicted},
		{"the rest still contradicts", []record.ClaimTest{start, size}, []record.StandIn{other}, slow, analyze.ClaimContradicted, true, analyze.ClaimSupported},
		{"nothing else", []record.ClaimTest{size}, []record.StandIn{other}, base, analyze.ClaimNotTested, false, analyze.ClaimSupported},
		{"of another metric", []record.ClaimTest{size}, []record.StandIn{metric}, large, analyze.ClaimContradicted, false, ""},
		{"of another level", []record.ClaimTest{size}, []record.StandIn{param}, base, analyze.ClaimSupported, false, ""},
		{"of another engine", []record.ClaimTest{size}, []record.StandIn{podman}, base, analyze.ClaimSupported, false, ""},
	} {
		run := claimRun(c.v, 0.02, nil)
		run.Claims = []record.Claim{{ID: "t/1", Says: "It is so.", Tests: c.tests, StandIns: c.stands}}
		res, err := evaluate.Run(run.Open(t), evaluate.Options{})
		require.NoError(t, err)
		f := res.Findings.Claims[0]
		if f.Verdict != c.want || f.Partly != c.partly || (f.Instead == nil) != (c.instead == "") {
			t.Errorf("%s: %s, partly %v, instead %+v: %s", c.name, f.Verdict, f.Partly, f.Instead, f.Reason)
			continue
		}
		if f.Instead == nil {
			continue
		}
		if f.Instead.Verdict != c.instead || len(f.Instead.Pairs) == 0 || len(f.Instead.StandIns) != 1 {
			t.Errorf("%s: %+v", c.name, f.Instead)
		}
		if len(f.Without) == 0 || f.Without[0].What != "Bench 1.0" || !strings.Contains(f.Without[0].Reason, "it is static") {
			t.Errorf("%s: %+v", c.name, f.Without)
		}
		if f.Verdict == analyze.ClaimNotTested && (!strings.HasPrefix(f.Reason, "Needs Bench 1.0") || !strings.Contains(f.Reason, "it would be supported")) {
			t.Errorf("%s: %s", c.name, f.Reason)
		}
	}
}
