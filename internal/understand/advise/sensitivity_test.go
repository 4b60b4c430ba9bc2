package advise

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// random makes costs and weights, the first row being the first.
func random(rng *rand.Rand) (costs [][]float64, weights []float64) {
	criteria := 1 + rng.IntN(4)
	for range criteria {
		weights = append(weights, math.Exp(rng.NormFloat64()))
	}
	for range 2 + rng.IntN(6) {
		row := make([]float64, criteria)
		for c := range row {
			row[c] = rng.NormFloat64()
		}
		costs = append(costs, row)
	}
	i := first(costs, weights)
	costs[0], costs[i] = costs[i], costs[0]
	return costs, weights
}

// The weight at which another comes first is the one that trying all weights finds.
func TestOvertakesIsWhatTryingFinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	changes := 0
	for range 300 {
		costs, weights := random(rng)
		for c := range weights {
			for _, up := range []bool{true, false} {
				row, at, ok := overtakes(costs, weights, c, up)
				to := at
				switch {
				case !ok && up:
					to = 1e5 * weights[c]
				case !ok:
					to = weights[c] * 1e-6
				}
				w := slices.Clone(weights)
				for i := range 500 {
					// On the logarithm, so that all magnitudes are tried.
					w[c] = weights[c] * math.Pow(to/weights[c], 0.999999*float64(i)/499)
					if got := first(costs, w); got != 0 {
						t.Fatalf("costs %v, weights %v: with %g for %d, %d is first, before %g (%v)", costs, weights, w[c], c, got, to, ok)
					}
				}
				if !ok {
					continue
				}
				changes++
				if (at > weights[c]) != up {
					t.Fatalf("from %g %v goes to %g", weights[c], up, at)
				}
				w[c] = at + 1e-6*(at-weights[c])
				if got := first(costs, w); got != row {
					t.Fatalf("costs %v, weights %v: beyond %g %d is first, want %d", costs, weights, at, got, row)
				}
			}
		}
	}
	if changes < 100 {
		t.Errorf("only %d changes were tried", changes)
	}
}

// Of two that trade one criterion for the other, the share of first places
// over random weights is known: the logarithm of the weights' quotient is
// normal.
func TestFirstsOverRandomWeights(t *testing.T) {
	const draws = 20_000
	for _, gain := range []float64{0.5, 1, 2, 5} {
		n := firsts([][]float64{{0, gain}, {1, 0}}, []float64{1, 1}, draws)
		// The first row is first where w2·gain < w1.
		want := distuv.UnitNormal.CDF(-math.Log(gain) / (math.Sqrt2 * spread))
		if got := float64(n[0]) / draws; math.Abs(got-want) > 0.012 || n[0]+n[1] != draws {
			t.Errorf("gain %g: %.3f of the first places, want %.3f", gain, got, want)
		}
	}
}
