package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestWalsh compares both ways of finding a Walsh average with sorting all.
func TestWalsh(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for _, n := range []int{1, 2, 3, 10, 50, 130, 300, 1501} {
		for kind := range 5 {
			x := make([]float64, n)
			for i := range x {
				switch kind {
				case 0:
					x[i] = r.NormFloat64()
				case 1:
					x[i] = float64(r.IntN(3)) // many ties
				case 2:
					x[i] = 1 // nothing but ties
				case 3:
					x[i] = math.Exp(40 * r.NormFloat64()) // from tiny to huge
				case 4:
					x[i] = 1 + 1e-15*float64(r.IntN(4)) // neighbours
				}
			}
			slices.Sort(x)
			var all []float64
			for i := range x {
				for j := i; j < n; j++ {
					all = append(all, average(x[i], x[j]))
				}
			}
			slices.Sort(all)
			for _, k := range []int{1, len(all)/40 + 1, (len(all) + 1) / 2, len(all)} {
				if got := averagesOf(x).smallest(k); got != all[k-1] {
					t.Fatalf("n %d, kind %d: the %d-th of %d is %v, want %v", n, kind, k, len(all), got, all[k-1])
				}
				if got := averagesOf(x).byBits(k, x[0], x[n-1]); got != all[k-1] {
					t.Fatalf("by bits, n %d, kind %d: the %d-th of %d is %v, want %v", n, kind, k, len(all), got, all[k-1])
				}
			}
		}
	}
}

// TestNth compares it with sorting.
func TestNth(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, n := range []int{1, 2, 3, 10, 100} {
		for kind := range 4 {
			x := make([]float64, n)
			for i := range x {
				x[i] = []float64{r.NormFloat64(), float64(r.IntN(3)), float64(i), float64(-i)}[kind]
			}
			sorted := Sorted(x)
			for k := range x {
				if got := nth(slices.Clone(x), k); got != sorted[k] {
					t.Fatalf("n %d, kind %d: %v is the one behind %d, want %v", n, kind, got, k, sorted[k])
				}
			}
		}
	}
}

// BenchmarkHodgesLehmann10k is one pair of a run of ten thousand blocks.
func BenchmarkHodgesLehmann10k(b *testing.B) {
	r := rand.New(rand.NewPCG(6, 6))
	d := differences(run(r, 10_000, 2), 0, 1)
	for b.Loop() {
		HodgesLehmann(d)
		HodgesLehmannInterval(d, Level)
	}
}
