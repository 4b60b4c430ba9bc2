package report

import (
	"bytes"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// TestOverview: from four workloads on the text begins with one line for each.
func TestOverview(t *testing.T) {
	s := recordtest.Typical()
	one := s.Workloads[0]
	for _, c := range []struct {
		workloads int
		want      bool
	}{{3, false}, {4, true}} {
		s.Workloads = nil
		for i := range c.workloads {
			w := one
			w.ID = one.ID + strings.Repeat("x", i)
			w.Title = ""
			s.Workloads = append(s.Workloads, w)
		}
		res := result(t, s)
		var text, md bytes.Buffer
		require.NoError(t, Write(&text, "text", res, Options{Width: 120}))
		require.NoError(t, Write(&md, "markdown", res, Options{}))
		for name, out := range map[string]string{"text": text.String(), "markdown": md.String()} {
			if got := strings.Contains(out, "Overview"); got != c.want {
				t.Errorf("%s, %d workloads: overview %v", name, c.workloads, got)
			}
		}
		if c.want {
			_, after, _ := strings.Cut(text.String(), "Overview\n")
			lines := strings.Split(after, "\n")
			t.Log("\n" + strings.Join(lines[:6], "\n"))
			if !strings.Contains(lines[0], "native") || strings.Count(lines[1], ".") < 3 {
				t.Errorf("%q", lines[:2])
			}
		}
	}
}

// Large numbers have no exponent, and small ones no digits that they don't have.
func TestFourDigits(t *testing.T) {
	for want, v := range map[string]float64{"17260": 17263.4, "1502000": 1.5019e6, "0.6872": 0.687213, "308.9": 308.91, "254": 254, "0": 0} {
		if got := fourDigits(v); got != want {
			t.Errorf("%v: %s, not %s", v, got, want)
		}
	}
}

// What a comparison came to is marked in each table that has it.
func TestMarks(t *testing.T) {
	e := sample.Estimate{Value: 1.02, Lo: new(1.01), Hi: new(1.03)}
	for verdict, want := range map[analyze.Verdict]string{analyze.Equal: " =", analyze.CannotTell: " ~", analyze.Differs: ""} {
		if n, mark := ratioNumber(&analyze.Ratio{Comparison: analyze.Comparison{Estimate: e, Verdict: verdict}}, interval); strings.TrimRight(n.Interval+" "+mark, " ") != "× [1.01, 1.03]"+want {
			t.Errorf("%s: %q %q in the ranking", verdict, n.Interval, mark)
		}
		if cells := overheadCells([]analyze.OverheadCell{{Overhead: &e, Verdict: verdict}}); !strings.HasSuffix(cells[0].String(), "]"+want) {
			t.Errorf("%s: %q in the overhead", verdict, cells[0])
		}
		c := &analyze.Cell{Median: &e, Ratios: []analyze.Ratio{{Baseline: "native", Comparison: analyze.Comparison{Estimate: e, Verdict: verdict}}}}
		if got := overviewCell(c, "native", record.LowerIsBetter, ""); got != "1.02"+want {
			t.Errorf("%s: %q in the overview", verdict, got)
		}
		if got := overviewCell(c, "native", record.HigherIsBetter, ""); got != "0.98"+want {
			t.Errorf("%s: %q in the overview of what is better the more of it there is", verdict, got)
		}
	}
}
