package report

import (
	"bytes"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/understand/analyze/bisection"
	"plimsoll/internal/understand/analyze/releases"
)

// TestBisectionBySize: a search by the size of the program answers in bytes, and speaks of
// no chance and no blocks.
func TestBisectionBySize(t *testing.T) {
	step := func(k bisection.Kind, s bisection.Sizes) BisectionStep {
		return BisectionStep{Kind: k, Commit: "fedcba98765432", Before: "0123456789abcd", Finding: s.Look(k)}
	}
	for _, c := range []struct {
		name   string
		last   bisection.Sizes
		result bisection.Result
		want   string
	}{
		{"one step", bisection.Sizes{Good: 1000, Bad: 1500, Before: 1000, Commit: 1500}, bisection.Found,
			"crun: fedcba987654 “Look for a lock” made it larger: size of the program 500 bytes more, 1000 → 1500, +50.0 % against 0123456789ab"},
		{"too small to be told in per cent", bisection.Sizes{Good: 9_000_000, Bad: 9_000_001, Before: 9_000_000, Commit: 9_000_001}, bisection.Found,
			"made it larger: size of the program 1 byte more, 9000000 → 9000001 against 0123456789ab"},
		{"two steps", bisection.Sizes{Good: 1000, Bad: 1500, Before: 1000, Commit: 1300}, bisection.Found,
			"300 bytes more, 1000 → 1300, +30.0 % against 0123456789ab; the ends differ by 500 bytes, so that there is another step"},
		{"backwards", bisection.Sizes{Good: 1000, Bad: 800}, bisection.Backwards,
			"the bad end is smaller than the good one: size of the program 200 bytes less, 1000 → 800, -20.0 %; to find what made it smaller, exchange them"},
	} {
		ends := step(bisection.Ends, bisection.Sizes{Good: c.last.Good, Bad: c.last.Bad})
		b := &Bisection{Program: "crun", Metric: releases.Size, Good: Revision{Hash: "0123456789abcd", Subject: "Begin"},
			Commits: []Revision{{Hash: "fedcba98765432", Subject: "Look for a lock"}}, Steps: []BisectionStep{ends},
			Outcome: bisection.Outcome{Result: c.result, Ends: &ends.Finding, Before: bisection.GoodEnd}}
		if c.result == bisection.Found {
			pair := step(bisection.Pair, c.last)
			b.Steps, b.Outcome.Pair, b.Outcome.Commits = append(b.Steps, pair), &pair.Finding, []int{0}
		}
		b.Judge()
		if !strings.Contains(b.Verdict, c.want) {
			t.Errorf("%s: no %q in %s", c.name, c.want, b.Verdict)
		}
		var out bytes.Buffer
		require.NoError(t, Bisections.Write(&out, "markdown", b, Options{}))
		if text := out.String(); strings.Contains(text, "block") || strings.Contains(text, "interval") || !strings.Contains(text, "A size does not vary by chance") || !strings.Contains(text, "bytes |") {
			t.Errorf("%s:\n%s", c.name, text)
		}
	}
}

// TestStepBySize: what git bisect run shows of a commit.
func TestStepBySize(t *testing.T) {
	f := bisection.Sizes{Good: 1000, Bad: 1500, Commit: 1400}.Look(bisection.Candidate)
	want := "crun: like the bad end: size of the program 400 bytes more, 1000 → 1400, +40.0 % against the good end, the bad end 500 bytes more, 1000 → 1500, +50.0 %"
	if got := StepSentence("crun", releases.Size, "", f, ""); got != want {
		t.Errorf("%s\nnot %s", got, want)
	}
}
