package importer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchmath"

	"plimsoll/internal/common/require"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
)

// imported writes values as a Go benchmark prints them, imports and analyses
// them.
func imported(t *testing.T, name string, values []float64) *analyze.Result {
	t.Helper()
	var b strings.Builder
	for _, v := range values {
		fmt.Fprintf(&b, "BenchmarkEncode-8 1000 %v ns/op\n", v)
	}
	return result(t, File{Path: name, Data: []byte(b.String()), Modified: time.Unix(1, 0)})
}

// TestComparesAsBenchmath: two imported files give the medians and the p that
// benchstat's own package gives for the same values, whatever the size.
func TestComparesAsBenchmath(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	differ := 0
	for _, c := range []struct {
		n, m  int
		by    float64
		grain float64 // values are rounded to it: ties
	}{{6, 6, 1.03, 0}, {10, 10, 1, 0}, {10, 12, 1.02, 0}, {20, 20, 1.01, 0}, {30, 25, 1.05, 0}, {40, 40, 1.005, 0}, {20, 20, 1.01, 20}, {60, 60, 1, 10}} {
		sample := func(n int, by float64) []float64 {
			out := make([]float64, n)
			for i := range out {
				out[i] = 4000 * by * math.Exp(0.02*rng.NormFloat64())
				if c.grain > 0 {
					out[i] = math.Round(out[i]/c.grain) * c.grain
				}
			}
			return out
		}
		x, y := sample(c.n, 1), sample(c.m, c.by)
		ch, err := compare.Between(imported(t, "old.txt", x), imported(t, "new.txt", y), compare.Options{})
		require.NoError(t, err)
		cell := ch.Cells[0]
		a, b := benchmath.NewSample(x, &benchmath.DefaultThresholds), benchmath.NewSample(y, &benchmath.DefaultThresholds)
		want := benchmath.AssumeNothing.Compare(a, b)
		// Beyond 30 values, and with ties, ours is by the normal distribution.
		far := 1e-9
		if max(c.n, c.m) > 30 || c.grain > 0 {
			far = 0.01
		}
		if ch.Interleaved || len(ch.Cells) != 1 || ch.Test != "Mann-Whitney" || cell.P == nil || math.Abs(*cell.P-want.P) > far {
			t.Errorf("%d, %d: p is %v by %s, benchmath's %v", c.n, c.m, *cell.P, ch.Test, want.P)
		}
		if v, w := cell.Base.Value, benchmath.AssumeNothing.Summary(a, 0.95).Center; math.Abs(v-w) > 1e-9*w {
			t.Errorf("the median is %v, benchmath's %v", v, w)
		}
		if v, w := cell.New.Value, benchmath.AssumeNothing.Summary(b, 0.95).Center; math.Abs(v-w) > 1e-9*w {
			t.Errorf("the median is %v, benchmath's %v", v, w)
		}
		// The shift's interval and the test are two sides of one thing.
		if out := *cell.Ratio.Lo > 1 || *cell.Ratio.Hi < 1; far < 0.01 && out != (want.P < 0.05) {
			t.Errorf("%d, %d: the interval is %v to %v, and benchmath's p %v", c.n, c.m, *cell.Ratio.Lo, *cell.Ratio.Hi, want.P)
		} else if out {
			differ++
		}
	}
	if differ < 2 {
		t.Errorf("only %d of the samples differ: the test sees one side alone", differ)
	}
}
