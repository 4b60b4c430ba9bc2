package report

import (
	"bytes"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/bisection"
	"plimsoll/internal/understand/analyze/sample"
)

// TestBisectionAlike: ends that are not told apart are said to be so, with what could
// have been found, or why nothing could.
func TestBisectionAlike(t *testing.T) {
	lo, hi, finds := 0.99, 1.02, 0.031
	ends := bisection.Finding{Verdict: bisection.Unclear, Blocks: 96, Ends: &sample.Estimate{Value: 1.01, Lo: &lo, Hi: &hi}, Finds: &finds}
	few := bisection.Finding{Verdict: bisection.Unclear, Blocks: 3}
	given := &Revision{Hash: "abcdefabcdef00", Subject: "Beside"}
	for _, c := range []struct {
		name string
		ends bisection.Finding
		why  string
		from *Revision
		want []string
	}{
		{"measured", ends, "", nil, []string{"the ends can't be told apart: startup of hello +1", "96 blocks; nine of ten such measurements find 3.1 %", "give an earlier bad one"}},
		{"few blocks", few, "", nil, []string{"too few to say what they could have found: give more time by --budget"}},
		{"one program", few, "both ends give the very same program", nil, []string{"crun: both ends give the very same program: there is nothing to find"}},
		{"two branches", ends, "", given, []string{"what made abcdefabcdef better may lie on its own branch"}},
	} {
		b := &Bisection{Program: "crun", Workload: "hello", Metric: record.Metric{ID: "startup", Unit: "ns"}, Good: Revision{Hash: "0123456789abcd", Subject: "Begin"}, Given: c.from,
			Commits: []Revision{{Hash: "fedcba98765432"}}, Steps: []BisectionStep{{Kind: bisection.Ends, Why: c.why, Finding: c.ends}},
			Outcome: bisection.Outcome{Result: bisection.Alike, Ends: &c.ends}}
		b.Judge()
		for _, w := range c.want {
			if !strings.Contains(b.Verdict, w) || strings.Contains(b.Verdict, "\n") {
				t.Errorf("%s: no %q in %s", c.name, w, b.Verdict)
			}
		}
		var out bytes.Buffer
		require.NoError(t, Bisections.Write(&out, "markdown", b, Options{}))
		if said := strings.Contains(out.String(), "“Beside” does not come before the bad one"); said != (c.from != nil) {
			t.Errorf("%s:\n%s", c.name, out.String())
		}
	}
}
