package stats

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"plimsoll/internal/common/require"
)

// TestTheilSen compares with SciPy (testdata/slope.py).
func TestTheilSen(t *testing.T) {
	data, err := os.ReadFile("testdata/slope.json")
	require.NoError(t, err)
	var cases []struct {
		X, Y          []float64
		Slope, Lo, Hi float64
	}
	if err := json.Unmarshal(data, &cases); err != nil || len(cases) < 5 {
		t.Fatal(len(cases), err)
	}
	for i, c := range cases {
		slope, in, ok := TheilSen(c.X, c.Y, Level)
		if !ok || !near(slope, c.Slope) || !near(in.Lo, c.Lo) || !near(in.Hi, c.Hi) {
			t.Errorf("case %d: %v %+v %v, SciPy says %v [%v, %v]", i, slope, in, ok, c.Slope, c.Lo, c.Hi)
		}
	}
	if s, _, ok := TheilSen([]float64{2, 2}, []float64{1, 5}, Level); ok || !math.IsNaN(s) {
		t.Errorf("equal x have the slope %v", s)
	}
	if s, _, ok := TheilSen([]float64{0, 1, 2}, []float64{0, 2, 4}, Level); ok || s != 2 {
		t.Errorf("three points: %v with an interval: %v", s, ok)
	}
	if s, _, ok := TheilSen(nil, nil, Level); ok || !math.IsNaN(s) {
		t.Errorf("no points: %v", s)
	}
	// Far too many points are thinned, not refused.
	x, y := make([]float64, 10_000), make([]float64, 10_000)
	for i := range x {
		x[i], y[i] = float64(i), 3*float64(i)
	}
	if s, _, ok := TheilSen(x, y, Level); !ok || s != 3 {
		t.Errorf("many points: %v %v", s, ok)
	}
}

// The interval covers what it says, where errors are independent.
func TestTheilSenCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	x, y := make([]float64, 20), make([]float64, 20)
	const runs = 2000
	covered := 0
	for range runs {
		for i := range x {
			x[i], y[i] = float64(i), 5*float64(i)+rng.ExpFloat64()*10
		}
		if _, in, ok := TheilSen(x, y, Level); ok && in.Lo <= 5 && 5 <= in.Hi {
			covered++
		}
	}
	if share := float64(covered) / runs; share < 0.94 || share > 0.98 {
		t.Errorf("the interval covers %.3f, want 0.95", share)
	}
}
