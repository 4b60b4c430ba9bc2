package stats

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"
)

// exactRanks is the size of the larger sample up to which the rank-sum
// statistic's exact distribution is used; beyond it the normal one, with
// continuity correction, differs by less than any number that is shown.
const exactRanks = 30

// Shift says by how much x lies above y: the median of all differences
// x[i]−y[j] (Hodges & Lehmann), with the interval at the depth that the
// rank-sum distribution gives (Moses). The two samples are independent of each
// other. The last result is false where they cannot carry the interval: at
// 95 % two of fewer than 4. (Hollander, Wolfe & Chicken, Nonparametric
// Statistical Methods, 4.2 and 4.3.)
func Shift(x, y []float64, level float64) (float64, Interval, bool) {
	if len(x) == 0 || len(y) == 0 {
		return math.NaN(), Interval{}, false
	}
	a, b := Sorted(x), Sorted(y)
	n, at := differencesOf(a, b)
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

// differencesOf says how many differences a[i]−b[j] there are, both sorted, and gives the
// k-th smallest (from 1).
func differencesOf(a, b []float64) (n int, at func(k int) float64) {
	c := manyDifferences(a, b)
	return c.n, func(k int) float64 {
		v := c.smallest(k)
		if v == 0 {
			return math.Copysign(0, c.first) // the smaller one of the zeros that can be, as by bits
		}
		return v
	}
}

func manyDifferences(a, b []float64) *counted {
	c := &counted{n: len(a) * len(b), first: a[0] - b[len(b)-1], last: a[len(a)-1] - b[0], few: 64 + (len(a)+len(b))/4,
		upTo: func(v float64) int { return countDifferences(a, b, v) },
		list: func(lo, hi float64, count int) []float64 { return listDifferences(a, b, lo, hi, count) }}
	if min(len(a), len(b)) >= groupFrom {
		c.near = manyDifferences(groups(a), groups(b))
	}
	return c
}

// countDifferences counts the differences that are at most v.
func countDifferences(a, b []float64, v float64) int {
	count, j := 0, 0
	for _, x := range a {
		for j < len(b) && x-b[j] > v {
			j++
		}
		count += len(b) - j
	}
	return count
}

// listDifferences gives those above lo and at most hi, at most count. For each a[i] they stand together,
// and their ends move to the right as i grows.
func listDifferences(a, b []float64, lo, hi float64, count int) []float64 {
	out := make([]float64, 0, count)
	from, to := 0, 0
	for _, x := range a {
		for from < len(b) && x-b[from] > hi {
			from++
		}
		for to < len(b) && x-b[to] > lo {
			to++
		}
		for _, y := range b[from:min(to, from+count-len(out))] {
			out = append(out, x-y)
		}
	}
	return out
}

// rankSumDepth is the largest k with P(U ≤ k−1) ≤ tail; 0 where there is none.
func rankSumDepth(m, n int, tail float64) int {
	if max(m, n) > exactRanks {
		mu, sigma := rankSumMoments(m, n)
		return max(0, int(math.Floor(mu+0.5+distuv.UnitNormal.Quantile(tail)*sigma)))
	}
	sum := 0.0
	for k, p := range rankSums(m, n) {
		if sum += p; sum > tail {
			return k
		}
	}
	return m * n
}

func rankSumMoments(m, n int) (mu, sigma float64) {
	a, b := float64(m), float64(n)
	return a * b / 2, math.Sqrt(a * b * (a + b + 1) / 12)
}

// rankSums is the distribution of U, the number of pairs with x above y, where
// both are of one distribution without ties: the largest of all values is an x
// with probability m/(m+n), and then lies above every y (Mann & Whitney 1947).
// Most cells of a table have the same number of blocks, so what was computed is
// kept; nobody writes to it.
func rankSums(m, n int) []float64 {
	key := [2]int{m, n}
	if p, ok := knownRankSums.Load(key); ok {
		return p.([]float64)
	}
	p := countRankSums(m, n)
	knownRankSums.Store(key, p)
	return p
}

var knownRankSums sync.Map // of at most exactRanks² entries

func countRankSums(m, n int) []float64 {
	row := make([][]float64, n+1) // of i values of x and j of y, by j
	for j := range row {
		row[j] = []float64{1}
	}
	for i := 1; i <= m; i++ {
		next := make([][]float64, n+1)
		next[0] = []float64{1}
		for j := 1; j <= n; j++ {
			of := float64(i) / float64(i+j)
			p := make([]float64, i*j+1)
			for u, v := range row[j] {
				p[u+j] += of * v
			}
			for u, v := range next[j-1] {
				p[u] += (1 - of) * v
			}
			next[j] = p
		}
		row = next
	}
	return row[n]
}

// MannWhitney is the two-sided p of the test that x and y are of one
// distribution (Mann & Whitney 1947): exact for up to 30 values each without
// ties, else normal with the variance corrected for ties and a continuity
// correction. It is NaN where either is empty.
func MannWhitney(x, y []float64) float64 {
	m, n := len(x), len(y)
	if m == 0 || n == 0 {
		return math.NaN()
	}
	u, ties := above(Sorted(x), Sorted(y))
	if ties == 0 && max(m, n) <= exactRanks {
		p := rankSums(m, n)
		low, high := 0.0, 0.0
		for s, v := range p {
			if float64(s) <= u {
				low += v
			}
			if float64(s) >= u {
				high += v
			}
		}
		return min(1, 2*min(low, high))
	}
	mu, sigma := rankSumMoments(m, n)
	all := float64(m + n)
	sigma *= math.Sqrt(max(0, 1-ties/(all*all*all-all)))
	if sigma == 0 {
		return 1
	}
	z := (math.Abs(u-mu) - 0.5) / sigma
	return min(1, 2*distuv.UnitNormal.Survival(max(z, 0)))
}

// above counts the pairs with x above y, a tie as one half, and gives the sum
// of t³−t over all groups of t equal values.
func above(x, y []float64) (u, ties float64) {
	twice := 0
	for i, j := 0, 0; i < len(x) || j < len(y); {
		a, b := 0, 0
		switch {
		case j == len(y) || i < len(x) && x[i] < y[j]:
			a = leading(x[i:])
		case i == len(x) || x[i] > y[j]:
			b = leading(y[j:])
		default:
			a, b = leading(x[i:]), leading(y[j:])
		}
		twice += a * (2*j + b)
		if t := float64(a + b); t > 1 {
			ties += t*t*t - t
		}
		i, j = i+a, j+b
	}
	return float64(twice) / 2, ties
}

// leading counts the values at the beginning of sorted that are the same.
func leading(sorted []float64) int {
	n := 1
	for n < len(sorted) && sorted[n] == sorted[0] {
		n++
	}
	return n
}

// MannWhitneyFloor is the smallest p that samples of m and n can give: two over
// the number of ways in which they can be mixed.
func MannWhitneyFloor(m, n int) float64 {
	a, _ := math.Lgamma(float64(m + n + 1))
	b, _ := math.Lgamma(float64(m + 1))
	c, _ := math.Lgamma(float64(n + 1))
	return min(1, 2*math.Exp(b+c-a))
}
