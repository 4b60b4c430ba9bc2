package report

import (
	"fmt"
	"math"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/bisection"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/words"
)

// grown is how much larger a program is than another, or smaller, to the byte.
func grown(from, to int64, ratio *sample.Estimate) string {
	by, more := to-from, "more"
	if by < 0 {
		by, more = -by, "less"
	}
	s := fmt.Sprintf("%s %s, %d → %d", words.Plural(int(by), "byte"), more, from, to)
	if math.Abs(ratio.Value-1) >= 1e-4 { // else it would read as none
		s += ", " + relative(ratio)
	}
	return s
}

// StepSentence says in one line what came of measuring one commit between two builds;
// why is what else is to be said of it.
func StepSentence(program string, m record.Metric, workload string, f bisection.Finding, why string) string {
	s := words.Clean(program) + ": " + map[bisection.Verdict]string{
		bisection.AsGood: "like the good build", bisection.AsBad: "like the bad build", bisection.Unclear: "can't tell",
		bisection.Skipped: "skipped", bisection.Unseen: "the bad build is not shown to be worse than the good one",
	}[f.Verdict]
	switch b := f.Bytes; {
	case why != "":
		return s + ": " + words.Clean(why)
	case b != nil:
		return s + fmt.Sprintf(": size of the program %s against the good build, the bad build %s", grown(b.Good, b.Commit, f.Change), grown(b.Good, b.Bad, f.Ends))
	case f.Change != nil && f.Ends != nil:
		s += fmt.Sprintf(": %s of %s %s against the good build, the bad build %s (%s)",
			words.Clean(m.ID), words.Clean(workload), relative(f.Change), relative(f.Ends), words.Plural(f.Blocks, "block"))
	}
	return s
}
