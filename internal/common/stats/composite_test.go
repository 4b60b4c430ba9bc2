package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// With one column, and with columns that have all blocks, it is Student's of
// the blocks' weighted sums.
func TestWeightedMeansOfWholeBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	w := []float64{0.5, 0.3, 0.2}
	x := make([][]float64, 3)
	sums := make([]float64, 8)
	for c := range x {
		for b := range sums {
			v := rng.NormFloat64()
			x[c] = append(x[c], v)
			sums[b] += w[c] * v
		}
	}
	got := WeightedMeans(x, w, Level, 2)
	mean, i, _ := TInterval(sums, Level)
	if !got.OK || got.N != 8 || !near(got.Value, mean) || !near(got.Interval.Lo, i.Lo) || !near(got.Interval.Hi, i.Hi) || !near(got.P, StudentP(TMoments(sums))) {
		t.Errorf("%+v, Student's is %g %+v", got, mean, i)
	}
	// A column of weight 0 plays no part, whatever it holds.
	x, w = append(x, []float64{math.NaN()}), append(w, 0)
	if again := WeightedMeans(x, w, Level, 2); again != got {
		t.Errorf("%+v with a column of weight 0, %+v without", again, got)
	}
}

func TestWeightedMeansRefuses(t *testing.T) {
	nan := math.NaN()
	for _, x := range [][][]float64{{{1, 2, 3}, {nan, nan, 4}}, {{1, 2, 3}, {1, 2, nan}}, {{1, 2, 3}, nil}} {
		if got := WeightedMeans(x, []float64{1, 1}, Level, 3); got.OK || !math.IsNaN(got.P) {
			t.Errorf("%v gives %+v", x, got)
		}
	}
	if got := WeightedMeans([][]float64{{2, 2, 2}}, []float64{1}, Level, 2); !got.OK || got.P != 0 || got.Interval != (Interval{2, 2}) {
		t.Errorf("without any spread: %+v", got)
	}
}

// The interval covers what it should where columns depend on each other, where
// one has few of the blocks, and where they are of runs without common blocks.
func TestWeightedMeansCover(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for seconds: left out with -short")
	}
	const rounds = 3000
	for _, c := range []struct {
		name string
		has  func(column, block int) bool
	}{
		{"whole blocks", func(int, int) bool { return true }},
		{"one column in 6 of 20 blocks", func(c, b int) bool { return c != 1 || b < 6 }},
		{"two runs", func(c, b int) bool { return (c == 1) == (b >= 12) }},
		{"gaps", func(c, b int) bool { return (b+3*c)%7 != 0 }},
	} {
		rng := rand.New(rand.NewPCG(7, 7))
		w := []float64{0.6, 0.25, 0.15}
		covered := 0
		for range rounds {
			x := make([][]float64, 3)
			for b := range 20 {
				shared := 0.03 * rng.NormFloat64()
				for k := range x {
					v := math.NaN()
					if c.has(k, b) {
						v = shared + 0.05*rng.NormFloat64()
						if rng.Float64() < 0.05 {
							v += 0.2 * rng.NormFloat64()
						}
					}
					x[k] = append(x[k], v)
				}
			}
			if s := WeightedMeans(x, w, Level, 4); s.Interval.Lo <= 0 && 0 <= s.Interval.Hi {
				covered++
			}
		}
		if share := float64(covered) / rounds; share < 0.935 || share > 0.985 {
			t.Errorf("%s: %.1f %% covered", c.name, 100*share)
		} else {
			t.Logf("%s: %.1f %% covered", c.name, 100*share)
		}
	}
}
