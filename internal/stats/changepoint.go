package stats

import (
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

// MinRegime is the smallest number of values before and after a break: a
// distance within one value does not exist.
const MinRegime = 2

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
	if o.Alpha == 0 {
		o.Alpha = 0.05
	}
	if o.Permutations == 0 {
		o.Permutations = 999
	}
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
		largest := permuted(family, o, round)
		open = open[:0]
		for _, p := range family {
			n := 1
			for _, q := range largest {
				if q >= p.q*(1-1e-9) { // the same sum in another order
					n++
				}
			}
			share := float64(n) / float64(len(largest)+1)
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

// permuted gives the largest statistic of the family in each permutation.
func permuted(family []piece, o BreakOptions, round uint64) []float64 {
	length := 0
	for _, p := range family {
		length = max(length, p.at[len(p.at)-1]+1)
	}
	// place[i] is where a piece has the value of moment i, -1 where it has none.
	places := make([][]int, len(family))
	for f, p := range family {
		places[f] = make([]int, length)
		for i := range places[f] {
			places[f][i] = -1
		}
		for k, i := range p.at {
			places[f][i] = k
		}
	}
	largest := make([]float64, o.Permutations)
	workers := runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			var values, scratch []float64
			for r := w; r < len(largest); r += workers {
				order := rand.New(rand.NewPCG(o.Seed+round<<32, uint64(r))).Perm(length)
				for f, p := range family {
					values = values[:0]
					for _, i := range order {
						if k := places[f][i]; k >= 0 {
							values = append(values, p.values[k])
						}
					}
					if need := len(values) * len(values); cap(scratch) < need {
						scratch = make([]float64, need)
					}
					_, q := divide(values, scratch)
					largest[r] = max(largest[r], q)
				}
			}
		})
	}
	wg.Wait()
	return largest
}

// divide finds the best break: k and e with the largest energy between
// x[:k] and x[k:e], over the mean distance of x. That e need not be the end
// keeps a later break from hiding this one. k is 0 where there is none.
// scratch, where given, holds at least len(x)² numbers.
func divide(x, scratch []float64) (k int, q float64) {
	n := len(x)
	if n < 2*MinRegime {
		return 0, 0
	}
	if scratch == nil {
		scratch = make([]float64, n*n)
	}
	// to[j*n+i] is the distance of x[j] to all of x[:i+1]; whole[j] the sum of
	// the distances within x[:j].
	to, whole := scratch[:n*n], make([]float64, n+1)
	for j := range n {
		sum := 0.0
		for i := range j {
			sum += math.Abs(x[i] - x[j])
			to[j*n+i] = sum
		}
		whole[j+1] = whole[j] + sum
	}
	scale := whole[n] / (float64(n) * float64(n-1) / 2)
	if !(scale > 0) || math.IsInf(scale, 0) {
		return 0, 0
	}
	for m := MinRegime; m <= n-MinRegime; m++ {
		a := float64(m)
		within := 0.0 // of x[m:e]
		for e := m + 1; e <= n; e++ {
			if j := e - 1; j > m {
				within += to[j*n+j-1] - to[j*n+m-1]
			}
			if e-m < MinRegime {
				continue
			}
			b := float64(e - m)
			between := whole[e] - whole[m] - within
			v := a * b / (a + b) * (2*between/(a*b) - 2*whole[m]/(a*(a-1)) - 2*within/(b*(b-1)))
			if v /= scale; v > q {
				k, q = m, v
			}
		}
	}
	return k, q
}
