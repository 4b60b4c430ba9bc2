package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestQuantileNeeds(t *testing.T) {
	for q, n := range map[float64]int{0.95: 72, 0.99: 368} {
		if got := QuantileNeeds(q, Level); got != n {
			t.Errorf("p%v needs %d, want %d", 100*q, got, n)
		}
	}
	// Of single values by block the interval is the plain one; of values that are
	// one within their block only the blocks count.
	rng := rand.New(rand.NewPCG(1, 1))
	x := normals(rng, 100, 0)
	var single, alike [][]float64
	for _, v := range x {
		single, alike = append(single, []float64{v}), append(alike, []float64{v, v, v, v})
	}
	plain, _ := QuantileInterval(Sorted(x), 0.95, Level)
	if _, i, n, ok := BlockQuantile(single, 0.95, Level); !ok || n != 100 || i != plain {
		t.Errorf("%v of %d, want %v", i, n, plain)
	}
	if _, i, n, ok := BlockQuantile(alike, 0.95, Level); !ok || n < 95 || n > 105 || i.Lo > plain.Lo || i.Hi < plain.Hi {
		t.Errorf("%v of %d, want %v", i, n, plain)
	}
	if _, _, n, ok := BlockQuantile(alike[:50], 0.95, Level); ok {
		t.Errorf("50 blocks carry an interval of p95 by their 200 values, as %d", n)
	}
	if _, _, _, ok := RatioOfQuantiles(nil, single, 0.95, Level); ok {
		t.Error("no value has an interval")
	}
}

// TestRatioOfQuantilesCovers: by simulation, in blocks with and without a speed
// of their own, of log-normal values and of such with a heavy tail.
func TestRatioOfQuantilesCovers(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for seconds: left out with -short")
	}
	const n = 1500
	truth := math.Log(1.1)
	for _, c := range []struct {
		name           string
		blocks, each   int
		shared, far, q float64
	}{
		{"80 blocks of 1", 80, 1, 0, 0.05, 0.95},
		{"20 blocks of 5", 20, 5, 0, 0.05, 0.95},
		{"20 blocks of 8 that move", 20, 8, 0.02, 0.05, 0.95},
		{"40 blocks of 10 that move", 40, 10, 0.05, 0, 0.95},
		{"40 blocks of 20, p99", 40, 20, 0.01, 0.05, 0.99},
	} {
		covered, given := 0, 0
		for r := range n {
			rng := rand.New(rand.NewPCG(uint64(r), 3))
			sample := func(by float64) [][]float64 {
				out := make([][]float64, c.blocks)
				for b := range out {
					block := c.shared * rng.NormFloat64()
					for range c.each {
						v := by + block + 0.03*rng.NormFloat64()
						if rng.Float64() < c.far {
							v += 0.3 * rng.ExpFloat64()
						}
						out[b] = append(out[b], v)
					}
				}
				return out
			}
			_, i, _, ok := RatioOfQuantiles(sample(truth), sample(0), c.q, Level)
			if !ok {
				continue
			}
			given++
			if i.Lo <= truth && i.Hi >= truth {
				covered++
			}
		}
		share := float64(covered) / float64(given)
		t.Logf("%s: given in %d of %d, covered %.3f", c.name, given, n, share)
		if share < 0.94 || given < n/4 {
			t.Errorf("%s: given in %d of %d, covered %.3f", c.name, given, n, share)
		}
	}
}
