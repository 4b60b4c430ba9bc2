package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// releases are blocks of things with these levels, each block and value with noise, and
// now and then a value far out.
func releases(rng *rand.Rand, blocks int, levels []float64, noise float64) [][]float64 {
	out := make([][]float64, blocks)
	for b := range out {
		day := 0.3 * rng.NormFloat64()
		out[b] = make([]float64, len(levels))
		for i, l := range levels {
			out[b][i] = l + day + noise*rng.NormFloat64()
			if rng.IntN(20) == 0 {
				out[b][i] += 20 * noise
			}
		}
	}
	return out
}

// TestBlockBreaksFalse: where nothing differs hardly anything is found, in three
// series together, which are alike in part.
func TestBlockBreaksFalse(t *testing.T) {
	simulates(t)
	const n = 200
	found := 0
	for i := range n {
		rng := rand.New(rand.NewPCG(uint64(i), 5))
		var family [][][]float64
		one := releases(rng, 12, make([]float64, 6), 0.05)
		for range 3 {
			x := releases(rng, 12, make([]float64, 6), 0.05)
			for b := range x {
				for k := range x[b] {
					x[b][k] += one[b][k]
				}
			}
			family = append(family, x)
		}
		for _, breaks := range BlockBreaks(family, BreakOptions{Permutations: 199, Seed: uint64(i)}) {
			if len(breaks) > 0 {
				found++
				break
			}
		}
	}
	// 99 % of 200 draws at 5 % have no more than 18.
	if found > 18 {
		t.Errorf("%d of %d runs in which nothing differs have a break", found, n)
	}
}

// TestBlockBreaksFound: a step, a release that is worse alone, and two steps are found
// where they are, though the blocks differ by far more.
func TestBlockBreaksFound(t *testing.T) {
	simulates(t)
	for name, c := range map[string]struct {
		levels []float64
		want   []int
	}{
		"a step":              {[]float64{0, 0, 0, 0, .05, .05, .05, .05}, []int{4}},
		"the last one":        {[]float64{0, 0, 0, 0, 0, .05}, []int{5}},
		"two things":          {[]float64{0, .05}, []int{1}},
		"one that is worse":   {[]float64{0, 0, 0, .05, 0, 0, 0}, []int{3, 4}},
		"up, and up again":    {[]float64{0, 0, .05, .05, .05, .1, .1}, []int{2, 5}},
		"up, and half undone": {[]float64{0, 0, 0, .1, .1, .05, .05}, []int{3, 5}},
	} {
		right := 0
		const n = 10
		for i := range n {
			rng := rand.New(rand.NewPCG(uint64(i), 6))
			nothing := releases(rng, 40, make([]float64, len(c.levels)), 0.03)
			got := BlockBreaks([][][]float64{nothing, releases(rng, 40, c.levels, 0.03)}, BreakOptions{Permutations: 199, Seed: uint64(i)})
			var at []int
			for _, b := range got[1] {
				at = append(at, b.At)
			}
			if slices.Equal(at, c.want) {
				right++
			}
		}
		if right < n*8/10 {
			t.Errorf("%s: %d of %d have the breaks %v alone", name, right, n, c.want)
		}
	}
}

// TestBlockBreaksMissing: a thing that has hardly a value is passed over, a block that
// lacks one says nothing, and equal values are no break.
func TestBlockBreaksMissing(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 7))
	x := releases(rng, 30, []float64{0, 0, 9, .5, .5}, 0.02)
	for b := range x {
		if b%10 != 0 {
			x[b][2] = math.NaN()
		}
		if b%7 == 0 {
			x[b][4] = math.NaN()
		}
	}
	same := make([][]float64, 30)
	for b := range same {
		same[b] = []float64{1, 1, 1, 1, 1}
	}
	got := BlockBreaks([][][]float64{x, same, nil}, BreakOptions{Permutations: 199})
	if len(got[0]) != 1 || got[0][0].At != 3 || len(got[1]) != 0 || len(got[2]) != 0 {
		t.Errorf("%+v", got)
	}
	again := BlockBreaks([][][]float64{x, same, nil}, BreakOptions{Permutations: 199})
	if !slices.EqualFunc(got, again, slices.Equal[[]Break]) {
		t.Errorf("%+v, and then %+v", got, again)
	}
}
