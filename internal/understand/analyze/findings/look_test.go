package findings_test

import (
	"slices"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/analyze/findings"
)

// looked is a run of some claims that may have four times its ten blocks.
func looked(t *testing.T, v truths, noise float64, claims ...record.Claim) *analyze.Result {
	t.Helper()
	c := claimRun(v, noise, func(c *recordtest.Cells) {})
	c.Claims = claims
	res, err := evaluate.Run(c.Open(t), evaluate.Options{})
	require.NoError(t, err)
	res.Run.Protocol.ClaimLooks = []int{10, 20, 40}
	return res
}

// A look keeps the cells of open claims and nothing else, and ends the run where
// none is open.
func TestLook(t *testing.T) {
	decided := record.Claim{ID: "t/decided", Tests: []record.ClaimTest{{Of: of("engine", "podman", "image", "alpine"), To: of("engine", "charliecloud"), Workload: choice("hello"), Metric: "startup", Ratio: below(0.5)}}}
	open := record.Claim{ID: "t/open", Tests: []record.ClaimTest{{Of: of("engine", "docker", "image", "alpine"), Baseline: "native", Workload: choice("work", "size", "small"), Metric: "speed", Ratio: within(0.99, 1.01)}}}
	lacking := record.Claim{ID: "t/lacking", Tests: []record.ClaimTest{{Of: of("engine", "lxd"), Baseline: "native", Workload: choice("hello"), Metric: "startup", Ratio: below(2)}}}
	v := with(truths{"docker/alpine work/small speed": 1003})
	res := looked(t, v, 0.01, decided, open, lacking)
	l := findings.Look(res, 10)
	if l.Rule != record.RuleClaims || l.Asked != 2 || l.Settled != 1 || l.Ended || len(l.Claims) != 1 || l.Claims[0].ID != "t/open" || !l.Claims[0].Open {
		t.Fatalf("%+v", l)
	}
	left := func(l record.Look, env, work string) bool {
		return slices.ContainsFunc(l.Cells, func(c record.LookCell) bool { return c.Left && c.Env == env && c.Workload == work })
	}
	if left(l, "native", "work/small") || left(l, "docker/alpine", "work/small") || !left(l, "native", "hello") || !left(l, "podman/alpine", "hello") || !left(l, "docker/debian", "work/small") {
		t.Errorf("%+v", l.Cells)
	}
	// What left is not named again.
	res.Run.Looks = append(res.Run.Looks, l)
	if again := findings.Look(res, 20); slices.ContainsFunc(again.Cells, func(c record.LookCell) bool { return c.Env == "podman/alpine" }) {
		t.Errorf("%+v", again.Cells)
	}
	if l = findings.Look(looked(t, v, 0.01, decided), 10); !l.Ended || l.Why != "every claim is decided" {
		t.Errorf("%+v", l)
	}
	if l = findings.Look(looked(t, v, 0.01, lacking), 10); !l.Ended || l.Asked != 0 || l.Why != "no claim can be decided from what it measures" {
		t.Errorf("%+v", l)
	}
}

// Of a run that is looked at three times each interval has a third of the level:
// it is wider than the one of a run that is looked at once.
func TestLevel(t *testing.T) {
	claim := record.Claim{ID: "t/1", Tests: []record.ClaimTest{{Of: of("engine", "docker", "image", "alpine"), Baseline: "native", Workload: choice("hello"), Metric: "startup", Ratio: below(2)}}}
	res := looked(t, base, 0.05, claim)
	three := findings.Judge([]*analyze.Result{res}, res.Claims, nil).Claims[0].Pairs[0]
	res.Run.Protocol.ClaimLooks = nil
	once := findings.Judge([]*analyze.Result{res}, res.Claims, nil).Claims[0].Pairs[0]
	if once.Level != 0 || three.Level < 0.983 || three.Level > 0.984 || *three.Estimate.Lo >= *once.Estimate.Lo || *three.Estimate.Hi <= *once.Estimate.Hi || three.Estimate.Value != once.Estimate.Value {
		t.Errorf("%+v %+v", three, once)
	}
}

// What a plan has to have for a claim: both sides of its pairs, and of what its
// answers compare.
func TestNeeds(t *testing.T) {
	run := looked(t, base, 0.1)
	var works []record.Workload
	for _, w := range run.Workloads {
		works = append(works, record.Workload{ID: w.ID, Name: w.Name, Params: w.Params})
	}
	claim := record.Claim{Tests: []record.ClaimTest{{Of: of("engine", "docker", "image", "alpine"), Baseline: "native", Workload: choice("work", "size", "small"), Metric: "speed", Ratio: below(2)}},
		Answers: []record.ClaimAnswer{{Test: record.ClaimTest{Of: of("engine", "podman"), Vary: "image", Workload: choice("hello"), Metric: "startup", Ratio: below(2)}}}}
	for _, answers := range []bool{false, true} {
		needs := findings.Needs([]record.Claim{claim}, answers, run.Environments, works)
		var got []string
		for i := range run.Environments {
			for k := range works {
				if needs(&run.Environments[i], &works[k]) {
					got = append(got, run.Environments[i].ID+" "+works[k].ID)
				}
			}
		}
		want := []string{"native work/small", "docker/alpine work/small"}
		if answers {
			want = append(want, "podman/alpine hello", "podman/debian hello")
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v, not %v", got, want)
		}
	}
}

// A pair that scatters so much that its range would still not hold its interval at
// the last look gets no further blocks; one that has a chance does, and one that
// may come to lie outside does.
func TestGivenUp(t *testing.T) {
	spread := func(center, by float64) (out []float64) {
		for i := range 10 {
			out = append(out, center+by*float64(2*i-9)/9)
		}
		return out
	}
	stated := *within(0.9, 1.1)
	for _, c := range []struct {
		center, by, rounds float64
		open               bool
	}{{0, 0.7, 4, false}, {0, 0.2, 4, true}, {0, 0.2, 1, false}, {0.5, 0.7, 4, true}, {0.5, 0.7, 1, true}} {
		v, stays := findings.Simulated([][]float64{spread(c.center, c.by)}, stated, 3, c.rounds)
		if v != analyze.ClaimInconclusive || stays[0] != c.open {
			t.Errorf("%+v: %s, %v", c, v, stays)
		}
	}
}
