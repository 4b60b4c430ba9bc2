package report

import (
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/bisection"
	"plimsoll/internal/understand/analyze/sample"
)

// TestStepSentence: what git bisect run shows of a commit.
func TestStepSentence(t *testing.T) {
	lo, hi := 0.99, 1.02
	same := &sample.Estimate{Value: 1.01, Lo: &lo, Hi: &hi}
	for _, c := range []struct {
		finding bisection.Finding
		why     string
		want    string
	}{
		{bisection.Sizes{Good: 1000, Bad: 1500, Commit: 1400}.Look(), "",
			"crun: like the bad build: size of the program 400 bytes more, 1000 → 1400, +40.0 % against the good build, the bad build 500 bytes more, 1000 → 1500, +50.0 %"},
		{bisection.Sizes{Good: 9_000_000, Bad: 9_000_001, Commit: 9_000_000}.Look(), "",
			"crun: like the good build: size of the program 0 bytes more, 9000000 → 9000000 against the good build, the bad build 1 byte more, 9000000 → 9000001"},
		{bisection.Finding{Verdict: bisection.Unseen, Blocks: 96, Ends: same, Change: same}, "",
			"crun: the bad build is not shown to be worse than the good one: startup of hello " + relative(same) + " against the good build, the bad build " + relative(same) + " (96 blocks)"},
		{bisection.Finding{Verdict: bisection.Skipped}, "the build failed: exit status 1", "crun: skipped: the build failed: exit status 1"},
	} {
		if got := StepSentence("crun", record.Metric{ID: "startup"}, "hello", c.finding, c.why); got != c.want {
			t.Errorf("%s\nnot %s", got, c.want)
		}
	}
}
