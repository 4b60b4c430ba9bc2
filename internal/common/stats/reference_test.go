package stats

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"plimsoll/internal/common/require"
)

// reference is testdata/reference.json, made by reference.py beside it.
type reference struct {
	Samples []struct {
		X                []float64
		Median, IQR, MAD float64
		Interval         []float64
		Far              int
	}
	Paired []struct {
		D  []float64
		HL struct {
			Estimate float64
			Interval []float64
		}
		SignedRank float64
		Mean       float64
		T          []*float64
		TP         *float64
	}
	Quantiles []struct {
		X        []float64
		Q, Value float64
		Interval []float64
	}
	Wilson []struct {
		K, N     int
		Interval []float64
	}
	Family []struct{ P, Holm []float64 }
	Trend  []struct{ X, Want []float64 }
	Cliff  []struct {
		A, B  []float64
		Delta float64
	}
	Dip []struct {
		X   []float64
		Dip float64
	}
	Clustered []struct {
		Blocks [][]float64
		X      float64
		Size   int
	}
}

func load(t *testing.T) reference {
	t.Helper()
	data, err := os.ReadFile("testdata/reference.json")
	require.NoError(t, err)
	var r reference
	require.NoError(t, json.Unmarshal(data, &r))
	return r
}

func near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b))
}

func wantInterval(t *testing.T, what string, got Interval, ok bool, want []float64) {
	t.Helper()
	if ok != (want != nil) {
		t.Errorf("%s: an interval is given: %v, want %v", what, ok, want)
	} else if ok && (!near(got.Lo, want[0]) || !near(got.Hi, want[1])) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func want(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !near(got, want) {
		t.Errorf("%s: %.12g, want %.12g", what, got, want)
	}
}

func TestSamples(t *testing.T) {
	for _, c := range load(t).Samples {
		s := Sorted(c.X)
		want(t, "median", Median(s), c.Median)
		want(t, "IQR", IQR(s), c.IQR)
		want(t, "MAD", MAD(s), c.MAD)
		i, ok := MedianInterval(s, Level)
		wantInterval(t, "median", i, ok, c.Interval)
		if got := FarOut(s); got != c.Far {
			t.Errorf("%d far out of %d, want %d", got, len(s), c.Far)
		}
	}
}

func TestPaired(t *testing.T) {
	for _, c := range load(t).Paired {
		want(t, "Hodges–Lehmann", HodgesLehmann(c.D), c.HL.Estimate)
		i, ok := HodgesLehmannInterval(c.D, Level)
		wantInterval(t, "Hodges–Lehmann", i, ok, c.HL.Interval)
		want(t, "signed rank", SignedRank(c.D), c.SignedRank)
		mean, i, ok := TInterval(c.D, Level)
		want(t, "mean", mean, c.Mean)
		if c.T[0] != nil {
			wantInterval(t, "t", i, ok, []float64{*c.T[0], *c.T[1]})
		}
		if c.TP != nil {
			want(t, "t test", StudentP(TMoments(c.D)), *c.TP)
		}
	}
}

func TestQuantiles(t *testing.T) {
	for _, c := range load(t).Quantiles {
		s := Sorted(c.X)
		want(t, "quantile", Quantile(s, c.Q), c.Value)
		i, ok := QuantileInterval(s, c.Q, Level)
		wantInterval(t, "quantile", i, ok, c.Interval)
	}
}

func TestWilson(t *testing.T) {
	for _, c := range load(t).Wilson {
		wantInterval(t, "Wilson", Wilson(c.K, c.N, Level), true, c.Interval)
	}
}

func TestFamily(t *testing.T) {
	for _, c := range load(t).Family {
		holm := Holm(c.P)
		for i := range c.P {
			want(t, "Holm", holm[i], c.Holm[i])
		}
	}
	if h := Holm([]float64{math.NaN(), 0.03}); !math.IsNaN(h[0]) || h[1] != 0.03 {
		t.Errorf("NaN is of the family: %v", h)
	}
}

func TestTrend(t *testing.T) {
	for _, c := range load(t).Trend {
		tau, p := MannKendall(c.X)
		want(t, "tau", tau, c.Want[0])
		want(t, "Mann–Kendall", p, c.Want[1])
	}
}

func TestCliff(t *testing.T) {
	for _, c := range load(t).Cliff {
		want(t, "Cliff", CliffDelta(c.A, c.B), c.Delta)
	}
	for d, w := range map[float64]string{0: "negligible", -0.2: "small", 0.4: "medium", -1: "large"} {
		if got := Effect(d); got != w {
			t.Errorf("%v is %s, want %s", d, got, w)
		}
	}
}

func TestDip(t *testing.T) {
	for _, c := range load(t).Dip {
		want(t, "dip", dip(Sorted(c.X)), c.Dip)
	}
}

func TestClustered(t *testing.T) {
	for _, c := range load(t).Clustered {
		if n := EffectiveSize(c.Blocks, c.X, Level); n != c.Size {
			t.Errorf("%d blocks are worth %d values, want %d", len(c.Blocks), n, c.Size)
		}
	}
}

// TestTextbook has the examples of Hollander & Wolfe for the signed ranks (the
// depression scale) and the rank sum (the amnion), which R gives with wilcox.test.
func TestTextbook(t *testing.T) {
	before := []float64{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30}
	after := []float64{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29}
	d := make([]float64, len(before))
	for i := range d {
		d[i] = after[i] - before[i]
	}
	center, i, ok := PseudoMedian(d, Level)
	if want(t, "pseudo-median", center, -0.46); math.Abs(SignedRank(d)-0.0390625) > 1e-12 {
		t.Errorf("p is %v", SignedRank(d))
	}
	wantInterval(t, "pseudo-median", i, ok, []float64{-0.786, -0.010})
	term := []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}
	early := []float64{1.15, 0.88, 0.90, 0.74, 1.21}
	center, i, ok = Shift(term, early, Level)
	if want(t, "shift", center, 0.305); math.Abs(MannWhitney(term, early)-0.2544) > 5e-5 {
		t.Errorf("p is %v", MannWhitney(term, early))
	}
	wantInterval(t, "shift", i, ok, []float64{-0.15, 0.76})
}

func TestNothing(t *testing.T) {
	// No values, or too few, give no number, and no panic.
	if !math.IsNaN(Median(nil)) || !math.IsNaN(HodgesLehmann(nil)) || !math.IsNaN(StudentP(TMoments([]float64{1}))) {
		t.Error("a number from nothing")
	}
	for _, f := range []func() (Interval, bool){
		func() (Interval, bool) { return MedianInterval(nil, Level) },
		func() (Interval, bool) { return QuantileInterval(nil, 0.95, Level) },
		func() (Interval, bool) { return HodgesLehmannInterval(nil, Level) },
		func() (Interval, bool) { _, i, ok := TInterval([]float64{1}, Level); return i, ok },
	} {
		if i, ok := f(); ok {
			t.Errorf("an interval from nothing: %v", i)
		}
	}
}
