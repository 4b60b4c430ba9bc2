package stats

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"plimsoll/internal/common/require"
)

// TestTwoSampleReference compares with testdata/ranksum.json, made by
// ranksum.py beside it.
func TestTwoSampleReference(t *testing.T) {
	data, err := os.ReadFile("testdata/ranksum.json")
	require.NoError(t, err)
	var cases []struct {
		X, Y, Interval, Welch []float64
		Exact                 bool
		P, Shift              float64
		WelchP                float64 `json:"welch_p"`
	}
	require.NoError(t, json.Unmarshal(data, &cases))
	if len(cases) < 9 {
		t.Fatalf("%d cases", len(cases))
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }
	for _, c := range cases {
		if p := MannWhitney(c.X, c.Y); !near(p, c.P) {
			t.Errorf("%d, %d: p is %v, want %v", len(c.X), len(c.Y), p, c.P)
		}
		v, i, ok := Shift(c.X, c.Y, Level)
		if !near(v, c.Shift) {
			t.Errorf("%d, %d: shift is %v, want %v", len(c.X), len(c.Y), v, c.Shift)
		}
		if c.Exact && (ok != (c.Interval != nil) || ok && (!near(i.Lo, c.Interval[0]) || !near(i.Hi, c.Interval[1]))) {
			t.Errorf("%d, %d: interval is %v, want %v", len(c.X), len(c.Y), i, c.Interval)
		}
		if p := StudentP(WelchMoments(c.X, c.Y)); !near(p, c.WelchP) {
			t.Errorf("%d, %d: Welch's p is %v, want %v", len(c.X), len(c.Y), p, c.WelchP)
		}
		if _, i, ok := WelchInterval(c.X, c.Y, Level); !ok || !near(i.Lo, c.Welch[0]) || !near(i.Hi, c.Welch[1]) {
			t.Errorf("%d, %d: Welch's interval is %v, want %v", len(c.X), len(c.Y), i, c.Welch)
		}
	}
}

func TestTwoSampleEdges(t *testing.T) {
	one := []float64{1}
	if _, _, ok := Shift(one, one, Level); ok {
		t.Error("one value each carries an interval")
	}
	if v, _, ok := Shift(nil, one, Level); ok || !math.IsNaN(v) || !math.IsNaN(MannWhitney(nil, one)) {
		t.Error("no values give a number")
	}
	same := []float64{2, 2, 2, 2, 2, 2}
	if v, i, ok := Shift(same, same, Level); !ok || v != 0 || i.Width() != 0 || MannWhitney(same, same) != 1 || StudentP(WelchMoments(same, same)) != 1 {
		t.Error("equal values differ")
	}
	if _, i, ok := WelchInterval(same, same, Level); !ok || i.Width() != 0 {
		t.Errorf("equal values have the interval %v", i)
	}
	if f := MannWhitneyFloor(6, 6); math.Abs(f-2.0/924) > 1e-9 {
		t.Errorf("floor of 6 and 6 is %v", f)
	}
}

// The k-th difference is the one that sorting finds, in whatever order one asks.
func TestDifference(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 50 {
		x, y := make([]float64, 1+r.IntN(20)), make([]float64, 1+r.IntN(20))
		for i := range x {
			x[i] = math.Round(8*r.NormFloat64()) / 4
		}
		for i := range y {
			y[i] = math.Exp(10 * r.NormFloat64())
		}
		var all []float64
		for _, a := range x {
			for _, b := range y {
				all = append(all, a-b)
			}
		}
		slices.Sort(all)
		slices.Sort(x)
		slices.Sort(y)
		n, at := differencesOf(x, y)
		if n != len(all) {
			t.Fatalf("%d, want %d", n, len(all))
		}
		for _, k := range []int{(n + 1) / 2, 1, n, n/3 + 1} {
			if got := at(k); got != all[k-1] {
				t.Fatalf("the %d-th of %d is %v, want %v", k, n, got, all[k-1])
			}
		}
	}
}

// TestUnpairedCoverage: the interval of two independent samples of block
// medians covers, too, where both are corrected by what ran beside them.
func TestUnpairedCoverage(t *testing.T) {
	simulates(t)
	const reps = 2000
	for _, blocks := range []int{6, 10, 20} {
		r := rand.New(rand.NewPCG(5, uint64(blocks)))
		hit := 0
		for range reps {
			x, y := differences(run(r, blocks, 2), 0, 1), differences(run(r, blocks, 2), 0, 1)
			if _, i, ok := Shift(x, y, Level); ok && i.Lo <= 0 && 0 <= i.Hi {
				hit++
			}
		}
		if got := float64(hit) / reps; got < .93 || got > .985 {
			t.Errorf("%d blocks: the interval covers %.1f %%", blocks, 100*got)
		}
	}
}
