package stats

import (
	"cmp"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
)

// Break is a change point of a series.
type Break struct {
	At int // index of the first value of the new level
	// P is the share of permutations in which any series of the family looked
	// as broken as this one.
	P float64
}

// BreakOptions are for Breaks.
type BreakOptions struct {
	// Alpha is the chance, in each round, that any break of the family is
	// false; 0 is 0.05.
	Alpha float64
	// Permutations is their number in each round; 0 is 999.
	Permutations int
	Seed         uint64
}

// minRegime is the smallest number of values before and after a break: a
// distance within one value does not exist.
const minRegime = 2

// MinBreakable is the shortest series in which the permutation test can find
// a break at 5 %: of 8 values, 2 of the 70 ways to choose four part them as
// well as two levels of four do, of 7 values 2 of 35.
const MinBreakable = 8

// Breaks finds change points by E-divisive means: the break that maximises the
// energy statistic (exponent 1), tested by permutations, then likewise in the
// parts (Matteson & James 2014, JASA 109, 334–345; for performance tests Daly
// et al., ICPE 2020). NaN is a value that is missing.
//
// The series are one family and their i-th values were taken together: a
// permutation permutes all of them alike, and each break is held against the
// largest statistic among all series (Westfall & Young 1993, single-step
// maxT). That keeps the chance of any false break at Alpha and, unlike a
// correction of each p, costs nothing where few values permit only a p that is
// not very small. To be comparable, each statistic is taken over the mean
// distance of its values.
func Breaks(series [][]float64, o BreakOptions) [][]Break {
	o.Alpha = cmp.Or(o.Alpha, 0.05)
	o.Permutations = cmp.Or(o.Permutations, 999)
	out := make([][]Break, len(series))
	var open []piece
	for s, x := range series {
		p := piece{series: s}
		for i, v := range x {
			if !math.IsNaN(v) {
				p.at, p.values = append(p.at, i), append(p.values, v)
			}
		}
		open = append(open, p)
	}
	for round := uint64(0); ; round++ {
		var family []piece
		for _, p := range open {
			if p.k, p.q = divide(p.values, nil); p.k > 0 {
				family = append(family, p)
			}
		}
		if len(family) == 0 {
			break
		}
		hits := permute(family, o, round)
		open = open[:0]
		for f, p := range family {
			share := float64(hits[f]+1) / float64(o.Permutations+1)
			if share > o.Alpha {
				continue
			}
			out[p.series] = append(out[p.series], Break{At: p.at[p.k], P: share})
			open = append(open,
				piece{series: p.series, at: p.at[:p.k], values: p.values[:p.k]},
				piece{series: p.series, at: p.at[p.k:], values: p.values[p.k:]})
		}
	}
	for _, b := range out {
		slices.SortFunc(b, func(x, y Break) int { return x.At - y.At })
	}
	return out
}

// piece is a part of a series that may hold a break, at values[k].
type piece struct {
	series int
	at     []int // the values' places in the series
	values []float64
	k      int
	q      float64
}

// batch is after how many permutations it is seen whether more can change
// anything.
const batch = 100

// permute counts, for each piece of the family, the permutations in which the
// largest statistic of the family reaches the piece's own. It ends early where
// no piece can come out as a break any more.
func permute(family []piece, o BreakOptions, round uint64) (hits []int) {
	places := placesOf(family)
	hits = make([]int, len(family))
	for from := 0; from < o.Permutations; from += batch {
		largest := make([]float64, min(batch, o.Permutations-from))
		workers := runtime.GOMAXPROCS(0)
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				var values, scratch []float64
				for r := w; r < len(largest); r += workers {
					order := rand.New(rand.NewPCG(o.Seed+round<<32, uint64(from+r))).Perm(len(places[0]))
					for f, p := range family {
						values = values[:0]
						for _, i := range order {
							if k := places[f][i]; k >= 0 {
								values = append(values, p.values[k])
							}
						}
						if need := 4 * (len(values) + 1); cap(scratch) < need {
							scratch = make([]float64, need)
						}
						_, q := divide(values, scratch)
						largest[r] = max(largest[r], q)
					}
				}
			})
		}
		wg.Wait()
		open := false
		for f, p := range family {
			for _, q := range largest {
				if q >= p.q*(1-1e-9) { // the same sum in another order
					hits[f]++
				}
			}
			open = open || float64(hits[f]+1) <= o.Alpha*float64(o.Permutations+1)
		}
		if !open {
			break
		}
	}
	return hits
}

// placesOf says where each piece has its value of each moment, -1 where it has
// none.
func placesOf(family []piece) [][]int {
	length := 0
	for _, p := range family {
		length = max(length, p.at[len(p.at)-1]+1)
	}
	places := make([][]int, len(family))
	for f, p := range family {
		places[f] = slices.Repeat([]int{-1}, length)
		for k, i := range p.at {
			places[f][i] = k
		}
	}
	return places
}

// divide finds the best break: k and e with the largest energy between
// x[:k] and x[k:e], over the mean distance of x. That e need not be the end
// keeps a later break from hiding this one. k is 0 where there is none.
// scratch, where given, is written over. It takes len(x)² steps.
func divide(x, scratch []float64) (k int, q float64) {
	n := len(x)
	if n < 2*minRegime {
		return 0, 0
	}
	if cap(scratch) < 4*(n+1) {
		scratch = make([]float64, 4*(n+1))
	}
	// before[j] is the distance of x[j] to all before it, left[j] to those of
	// x[:m]; whole[j] is the sum of the distances within x[:j].
	before, left, whole, over := scratch[:n], scratch[n:2*n], scratch[2*n:3*n+1], scratch[3*n+1:4*n+2]
	whole[0] = 0
	for j, v := range x {
		sum := 0.0
		for _, u := range x[:j] {
			sum += math.Abs(u - v)
		}
		before[j], left[j], whole[j+1], over[j+1] = sum, 0, whole[j]+sum, 1/float64(j+1)
	}
	scale := whole[n] / (float64(n) * float64(n-1) / 2)
	if !(scale > 0) || math.IsInf(scale, 0) {
		return 0, 0
	}
	for m := 1; m <= n-minRegime; m++ {
		u := x[m-1]
		for j := m; j < n; j++ {
			left[j] += math.Abs(u - x[j])
		}
		if m < minRegime {
			continue
		}
		// With a values in x[:m] and b in x[m:e] the energy is
		// ab/(a+b) (2 between/ab − 2 whole/(a(a−1)) − 2 within/(b(b−1))).
		a, base := float64(m), whole[m]*over[m-1]
		within := 0.0 // of x[m:e]
		for e := m + 2; e <= n; e++ {
			b := e - m
			within += before[e-1] - left[e-1]
			v := 2 * over[e] * (whole[e] - whole[m] - within - float64(b)*base - a*within*over[b-1])
			if v > q {
				k, q = m, v
			}
		}
	}
	return k, q / scale
}
