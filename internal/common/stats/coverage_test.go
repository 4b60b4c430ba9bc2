package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// shapes are distributions with the median 0.
var shapes = []struct {
	name string
	draw func(*rand.Rand) float64
	ties bool
}{
	{name: "normal", draw: (*rand.Rand).NormFloat64},
	{name: "two humps", draw: func(r *rand.Rand) float64 { return 0.1*r.NormFloat64() + 2*float64(r.IntN(2)) - 1 }},
	{name: "heavy tails", draw: func(r *rand.Rand) float64 {
		// Student's t of 2 degrees of freedom.
		return r.NormFloat64() / math.Sqrt(r.ExpFloat64())
	}},
	{name: "skewed", draw: func(r *rand.Rand) float64 { return r.ExpFloat64() - math.Ln2 }},
	{name: "ties", draw: func(r *rand.Rand) float64 { return math.Round(1.2 * r.NormFloat64()) }, ties: true},
}

// covers says whether so many hits of n are what a coverage between 94 and
// most gives, but for one case in a thousand.
func covers(hits, n int, most float64) bool {
	return distuv.Binomial{N: float64(n), P: 0.94}.CDF(float64(hits)) >= 0.001 &&
		1-distuv.Binomial{N: float64(n), P: most}.CDF(float64(hits-1)) >= 0.001
}

// TestCoverageOfShapes: the interval of a median, and of a ratio of two equal
// shapes, holds the truth whatever the shape and however few the values.
func TestCoverageOfShapes(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for seconds: left out with -short")
	}
	const reps = 2000
	for s, shape := range shapes {
		for _, n := range []int{6, 7, 10, 12, 20, 30, 50, 100} {
			r := rand.New(rand.NewPCG(uint64(s), uint64(n)))
			median, ratio := 0, 0
			x, d := make([]float64, n), make([]float64, n)
			for range reps {
				for i := range x {
					x[i] = shape.draw(r)
					d[i] = x[i] - shape.draw(r)
				}
				slices.Sort(x)
				if i, ok := MedianInterval(x, Level); ok && i.Lo <= 0 && 0 <= i.Hi {
					median++
				}
				if i, ok := HodgesLehmannInterval(d, Level); ok && i.Lo <= 0 && 0 <= i.Hi {
					ratio++
				}
			}
			most := 0.98
			if shape.ties || n < 10 {
				most = 1 // between two steps, or so few values, there are few coverages to choose from
			}
			if !covers(median, reps, most) {
				t.Errorf("%s, %d values: the interval of the median covers %.1f %%", shape.name, n, 100*float64(median)/reps)
			}
			if !covers(ratio, reps, most) {
				t.Errorf("%s, %d values: the interval of the ratio covers %.1f %%", shape.name, n, 100*float64(ratio)/reps)
			}
		}
	}
}

// TestCoverageInBlocks: where the values of a block have something in common,
// the intervals of quantiles hold the truth too. Taken for independent they
// do not: else this test would prove nothing.
func TestCoverageInBlocks(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for seconds: left out with -short")
	}
	const reps = 1000
	for _, c := range []struct {
		blocks, each int
		q            float64
	}{{6, 3, 0.5}, {10, 10, 0.5}, {20, 3, 0.5}, {40, 10, 0.95}} {
		r := rand.New(rand.NewPCG(8, uint64(c.blocks*c.each)))
		truth := math.Sqrt2 * distuv.UnitNormal.Quantile(c.q)
		hit, naive := 0, 0
		for range reps {
			blocks := make([][]float64, c.blocks)
			for b := range blocks {
				common := r.NormFloat64()
				for range c.each {
					blocks[b] = append(blocks[b], common+r.NormFloat64())
				}
			}
			x := slices.Concat(blocks...)
			slices.Sort(x)
			of := func(n int) int {
				var i Interval
				var ok bool
				if c.q == 0.5 {
					i, ok = MedianIntervalAs(x, n, Level)
				} else {
					i, ok = QuantileIntervalAs(x, n, c.q, Level)
				}
				if ok && i.Lo <= truth && truth <= i.Hi {
					return 1
				}
				return 0
			}
			hit += of(EffectiveSize(blocks, Quantile(x, c.q), Level))
			naive += of(len(x))
		}
		if !covers(hit, reps, 1) {
			t.Errorf("%d blocks of %d, quantile %v: covers %.1f %%", c.blocks, c.each, c.q, 100*float64(hit)/reps)
		}
		if naive > reps*92/100 {
			t.Errorf("%d blocks of %d, quantile %v: values taken for independent cover %.1f %%", c.blocks, c.each, c.q, 100*float64(naive)/reps)
		}
		t.Logf("%d blocks of %d, quantile %v: covers %.1f %%, taken for independent %.1f %%", c.blocks, c.each, c.q, 100*float64(hit)/reps, 100*float64(naive)/reps)
	}
}

func TestEffectiveSize(t *testing.T) {
	for _, c := range []struct {
		name     string
		blocks   [][]float64
		min, max int
	}{
		{"one value each", [][]float64{{1}, {2}, {3}, nil, {4}}, 4, 4},
		{"one block", [][]float64{{1, 2, 3, 4}}, 1, 1},
		{"a block's values are one", [][]float64{{1, 1, 1}, {2, 2, 2}, {3, 3, 3}, {4, 4, 4}, {5, 5, 5}, {6, 6, 6}}, 6, 6},
		{"blocks are alike", [][]float64{{1, 9}, {2, 8}, {1, 9}, {2, 8}, {1, 9}, {2, 8}}, 12, 12},
		{"nothing", nil, 0, 0},
	} {
		x := slices.Concat(c.blocks...)
		slices.Sort(x)
		if n := EffectiveSize(c.blocks, Median(x), Level); n < c.min || n > c.max {
			t.Errorf("%s: %d, want %d to %d", c.name, n, c.min, c.max)
		}
	}
	if _, ok := MedianIntervalAs([]float64{1, 2, 3, 4, 5, 6, 7, 8}, 4, Level); ok {
		t.Error("four blocks carry an interval")
	}
}
