package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// shiftByBits is Shift by bisection over the representable numbers alone: slow, and right.
func shiftByBits(x, y []float64, level float64) (float64, Interval, bool) {
	a, b := Sorted(x), Sorted(y)
	n := len(a) * len(b)
	at := func(k int) float64 {
		lo, hi := ordinal(a[0]-b[len(b)-1]), ordinal(a[len(a)-1]-b[0])
		for lo < hi {
			mid := lo + (hi-lo)/2
			if countDifferences(a, b, unordinal(mid)) >= k {
				hi = mid
			} else {
				lo = mid + 1
			}
		}
		return unordinal(lo)
	}
	center := at(n/2 + 1)
	if n%2 == 0 {
		center = (center + at(n/2)) / 2
	}
	k := rankSumDepth(len(a), len(b), (1-level)/2)
	if k < 1 {
		return center, Interval{}, false
	}
	return center, Interval{Lo: at(k), Hi: at(n + 1 - k)}, true
}

// pseudoMedianByBits is PseudoMedian likewise.
func pseudoMedianByBits(d []float64, level float64) (float64, Interval, bool) {
	s := Sorted(d)
	c := averagesOf(s)
	at := func(k int) float64 { return c.byBits(k, s[0], s[len(s)-1]) }
	center := (at((c.n+1)/2) + at(c.n/2+1)) / 2
	k := signedRankDepth(len(s), (1-level)/2)
	if k < 1 {
		return center, Interval{}, false
	}
	return center, Interval{Lo: at(k), Hi: at(c.n + 1 - k)}, true
}

// TestNearAsByBits: of many values too, and those near save most of the counting.
func TestNearAsByBits(t *testing.T) {
	r := rand.New(rand.NewPCG(18, 18))
	for _, n := range []int{groupFrom, 3001, 20_000} {
		for kind := range kinds - 1 {
			d := valuesOf(r, kind, n)
			v, in, _ := PseudoMedian(d, Level)
			if w, is, _ := pseudoMedianByBits(d, Level); v != w || in != is {
				t.Errorf("%d of kind %d: %v %v, want %v %v", n, kind, v, in, w, is)
			}
		}
	}
	for kind := range kinds {
		x, y := valuesOf(r, kind, 3000), valuesOf(r, kind, 1500)
		v, in, _ := Shift(x, y, Level)
		if w, is, _ := shiftByBits(x, y, Level); !same(v, w) || !same(in.Lo, is.Lo) || !same(in.Hi, is.Hi) {
			t.Errorf("differences of kind %d: %v %v, want %v %v", kind, v, in, w, is)
		}
	}
	s := Sorted(valuesOf(r, 0, 20_000))
	c, counts := averagesOf(s), 0
	upTo := c.upTo
	c.upTo = func(v float64) int { counts++; return upTo(v) }
	depth := signedRankDepth(len(s), (1-Level)/2)
	for _, k := range []int{c.n / 2, c.n/2 + 1, depth, c.n + 1 - depth} {
		c.smallest(k)
	}
	if counts > 6 {
		t.Errorf("counted %d times", counts)
	}
}

// values of some kinds: what is measured, and what is hard to narrow.
func valuesOf(r *rand.Rand, kind, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		switch kind {
		case 0: // logarithms of times, of which some are wild
			x[i] = math.Log(1e7) + 0.05*r.NormFloat64()
			if r.IntN(50) == 0 {
				x[i] += 3 * r.ExpFloat64()
			}
		case 1: // rounded: ties, and many zeros among the differences
			x[i] = math.Round(3 * r.NormFloat64())
		case 2: // nothing but ties
			x[i] = 2
		case 3: // from tiny to huge
			x[i] = math.Exp(100 * r.NormFloat64())
		case 4: // neighbours
			x[i] = 1 + 1e-15*float64(r.IntN(4))
		case 5: // zeros, and values beside them
			x[i] = float64(r.IntN(3)-1) * math.Exp(-100*r.Float64()) * float64(r.IntN(2))
		case 6: // two humps
			x[i] = float64(r.IntN(2)) + 0.01*r.NormFloat64()
		case 7: // an infinite one
			x[i] = r.NormFloat64()
			if r.IntN(n) == 0 {
				x[i] = math.Inf(1 - 2*r.IntN(2))
			}
		}
	}
	return x
}

const kinds = 8

// same compares bit by bit: also the signs of zeros, and what is no number.
func same(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
}

// What is narrowed by counting is what bisection finds, to the last bit.
func TestNarrowedAsByBits(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 17))
	sizes := []int{1, 2, 5, 15, 16, 40, 150, 700}
	if testing.Short() {
		sizes = sizes[:6]
	}
	for _, m := range sizes {
		for _, n := range sizes {
			for kind := range kinds {
				other := kind
				if r.IntN(3) == 0 {
					other = r.IntN(kinds)
				}
				x, y, level := valuesOf(r, kind, m), valuesOf(r, other, n), []float64{0.5, Level, 0.999}[r.IntN(3)]
				v, in, ok := Shift(x, y, level)
				w, is, has := shiftByBits(x, y, level)
				if !same(v, w) || !same(in.Lo, is.Lo) || !same(in.Hi, is.Hi) || ok != has {
					t.Errorf("%d of kind %d and %d of kind %d: %v %v %v, want %v %v %v", m, kind, n, other, v, in, ok, w, is, has)
				}
			}
		}
		for kind := range kinds - 1 {
			d := valuesOf(r, kind, m)
			v, in, ok := PseudoMedian(d, Level)
			w, is, has := pseudoMedianByBits(d, Level)
			if v != w || in != is || ok != has {
				t.Errorf("%d of kind %d: %v %v %v, want %v %v %v", m, kind, v, in, ok, w, is, has)
			}
		}
	}
}

// differencesOneByOne goes through all pairs.
func (l *learner) differencesOneByOne(fold int) (dy []float64, dx [][]float64) {
	total := 0
	for _, y := range l.y {
		n := len(y) - (len(y)-fold+folds-1)/folds
		total += n * (n - 1) / 2
	}
	stride, at := (total+mostPairs-1)/mostPairs, 0
	dx = make([][]float64, len(l.x[0]))
	for i, y := range l.y {
		for lag := 1; lag < len(y); lag++ {
			for b := 0; b+lag < len(y); b++ {
				if b%folds == fold || (b+lag)%folds == fold {
					continue
				}
				if at++; at%max(stride, 1) != 0 {
					continue
				}
				dy = append(dy, y[b+lag]-y[b])
				for c := range dx {
					dx[c] = append(dx[c], l.x[i][c][b+lag]-l.x[i][c][b])
				}
			}
		}
	}
	return dy, dx
}

// The pairs that weights are learnt from are those that one finds by going through all.
func TestPairsAsOneByOne(t *testing.T) {
	r := rand.New(rand.NewPCG(18, 18))
	for range 300 {
		l := &learner{}
		for i := range l.y {
			n := r.IntN(60)
			if r.IntN(10) == 0 {
				n = r.IntN(1000)
			}
			l.y[i] = valuesOf(r, 0, n)
			l.x[i] = [][]float64{valuesOf(r, 0, n), valuesOf(r, 6, n)}
		}
		for fold := range folds {
			dy, dx := l.differences(fold)
			wantY, wantX := l.differencesOneByOne(fold)
			if fmt.Sprint(dy, dx) != fmt.Sprint(wantY, wantX) {
				t.Fatalf("%d and %d blocks, fold %d: %d pairs, want %d", len(l.y[0]), len(l.y[1]), fold, len(dy), len(wantY))
			}
		}
	}
}

// mannKendallByPairs is its S, looking at all pairs.
func mannKendallByPairs(x []float64) (s int) {
	for i := range x {
		for _, later := range x[i+1:] {
			switch {
			case later > x[i]:
				s++
			case later < x[i]:
				s--
			}
		}
	}
	return s
}

// A trend counted by merging is that of all pairs, with and without ties.
func TestTrendAsByPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 20))
	for _, n := range []int{3, 4, 7, 50, 51, 500} {
		for kind := range kinds {
			x := valuesOf(r, kind, n)
			tau, _ := MannKendall(x)
			if want := float64(mannKendallByPairs(x)) / float64(n*(n-1)/2); !same(tau, want) {
				t.Errorf("%d of kind %d: %v, want %v", n, kind, tau, want)
			}
			if sorted, _ := inversions(x); !slices.Equal(sorted, Sorted(x)) {
				t.Errorf("%d of kind %d are not sorted", n, kind)
			}
		}
	}
}

// BenchmarkLongRuns is what two runs of ten thousand blocks cost: their shift, the pairs
// that weights are learnt from and so on, and how many times as long the slow way takes.
func BenchmarkLongRuns(b *testing.B) {
	r := rand.New(rand.NewPCG(19, 19))
	const n = 10_000
	l := &learner{}
	for i := range l.y {
		l.y[i], l.x[i] = valuesOf(r, 0, n), [][]float64{valuesOf(r, 0, n), valuesOf(r, 6, n)}
	}
	for _, c := range []struct {
		name      string
		now, slow func()
	}{
		{"shift", func() { Shift(l.y[1], l.y[0], Level) }, func() { shiftByBits(l.y[1], l.y[0], Level) }},
		{"pseudo-median", func() { PseudoMedian(l.y[0], Level) }, func() { pseudoMedianByBits(l.y[0], Level) }},
		{"trend", func() { MannKendall(l.y[0]) }, func() { mannKendallByPairs(l.y[0]) }},
		{"pairs", func() { l.differences(0) }, func() { l.differencesOneByOne(0) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			took, times := time.Duration(0), 0
			for b.Loop() {
				c.now()
				b.StopTimer()
				begin := time.Now()
				c.slow()
				took, times = took+time.Since(begin), times+1
				b.StartTimer()
			}
			b.ReportMetric(float64(took)/float64(times)/(float64(b.Elapsed())/float64(times)), "slow/now")
		})
	}
}
