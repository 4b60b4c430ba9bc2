package stats

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"

	"plimsoll/internal/common/lists"
)

// exactTo is the number of pairs up to which the signed-rank statistic's
// exact distribution is used; beyond it the normal one, with continuity
// correction, differs by less than any number that is shown.
const exactTo = 50

// HodgesLehmann is the pseudo-median of d: the median of all Walsh averages
// (d[i]+d[j])/2, i ≤ j. NaN for no values. (Hollander, Wolfe & Chicken,
// Nonparametric Statistical Methods, 3.2.)
func HodgesLehmann(d []float64) float64 {
	if len(d) == 0 {
		return math.NaN()
	}
	return pseudoMedian(averages(Sorted(d)))
}

func pseudoMedian(m int, at func(k int) float64) float64 {
	if m%2 == 1 {
		return at(m/2 + 1)
	}
	return (at(m/2) + at(m/2+1)) / 2
}

// HodgesLehmannInterval is the interval for the pseudo-median: the Walsh
// averages at the depth that the Wilcoxon signed-rank distribution gives
// (ibid. 3.3). The last result is false where d cannot carry it: at 95 %
// fewer than 6 values.
func HodgesLehmannInterval(d []float64, level float64) (Interval, bool) {
	_, i, ok := PseudoMedian(d, level)
	return i, ok
}

// PseudoMedian gives HodgesLehmann and HodgesLehmannInterval at once.
func PseudoMedian(d []float64, level float64) (float64, Interval, bool) {
	n := len(d)
	if n == 0 {
		return math.NaN(), Interval{}, false
	}
	m, at := averages(Sorted(d))
	center := pseudoMedian(m, at)
	k := signedRankDepth(n, (1-level)/2)
	if k < 1 {
		return center, Interval{}, false
	}
	return center, Interval{Lo: at(k), Hi: at(m + 1 - k)}, true
}

// signedRankDepth is the largest k with P(T ≤ k−1) ≤ tail; 0 where there is none.
func signedRankDepth(n int, tail float64) int {
	if n > exactTo {
		mu, sigma := signedRankMoments(n)
		return max(0, int(math.Floor(mu+0.5+distuv.UnitNormal.Quantile(tail)*sigma)))
	}
	p := signedRanks(n)
	sum := 0.0
	for k := range p {
		sum += p[k]
		if sum > tail {
			return k
		}
	}
	return len(p)
}

func signedRankMoments(n int) (mu, sigma float64) {
	f := float64(n)
	return f * (f + 1) / 4, math.Sqrt(f * (f + 1) * (2*f + 1) / 24)
}

// signedRanks is the distribution of the sum of the ranks of the positive ones
// of n values without ties. Most cells of a table have the same number of
// blocks, so what was computed is kept; nobody writes to it.
func signedRanks(n int) []float64 {
	if p, ok := knownSignedRanks.Load(n); ok {
		return p.([]float64)
	}
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = i + 1
	}
	p := subsetSums(ranks)
	knownSignedRanks.Store(n, p)
	return p
}

var knownSignedRanks sync.Map // of at most exactTo entries

// subsetSums is the distribution of the sum of a random subset of the ranks,
// each taken with probability ½.
func subsetSums(ranks []int) []float64 {
	total := 0
	for _, r := range ranks {
		total += r
	}
	p := make([]float64, total+1)
	p[0] = 1
	top := 0
	for _, r := range ranks {
		top += r
		for s := top; s >= 0; s-- {
			v := p[s] / 2
			if s >= r {
				v += p[s-r] / 2
			}
			p[s] = v
		}
	}
	return p
}

// fewAverages is how many Walsh averages are sorted, once for all that is asked of
// them, rather than sought one by one: those of 15 values.
const fewAverages = 128

// averages says how many Walsh averages sorted values have, and gives the k-th
// smallest (from 1).
func averages(sorted []float64) (m int, at func(k int) float64) {
	n := len(sorted)
	if m = n * (n + 1) / 2; m > fewAverages {
		return m, manyAverages(sorted).smallest
	}
	all := make([]float64, 0, m)
	for i, a := range sorted {
		for _, b := range sorted[i:] {
			all = append(all, average(a, b))
		}
	}
	slices.Sort(all)
	return m, func(k int) float64 { return all[k-1] }
}

// manyAverages are those of so many values that there is no room for n² averages.
func manyAverages(sorted []float64) *counted {
	n := len(sorted)
	return &counted{n: n * (n + 1) / 2, first: sorted[0], last: sorted[n-1], few: 64 + n/4,
		upTo: func(v float64) int { return countWalsh(sorted, v) },
		list: func(lo, hi float64, count int) []float64 { return listWalsh(sorted, lo, hi, count) }}
}

// countWalsh counts the Walsh averages that are at most v.
func countWalsh(sorted []float64, v float64) int {
	n, count := len(sorted), 0
	j := n - 1
	for i := range sorted {
		for j >= 0 && average(sorted[i], sorted[j]) > v {
			j--
		}
		if j < i {
			break
		}
		count += j - i + 1
	}
	return count
}

// listWalsh gives those above lo and at most hi. For each i, the partners j ≥ i of which
// the average is there stand together, and their ends move to the left as i grows.
func listWalsh(sorted []float64, lo, hi float64, count int) []float64 {
	out := make([]float64, 0, count)
	right := len(sorted) - 1
	left := right
	for i := range sorted {
		for right >= 0 && average(sorted[i], sorted[right]) > hi {
			right--
		}
		for left >= 0 && average(sorted[i], sorted[left]) > lo {
			left--
		}
		for j := max(left+1, i); j <= right; j++ {
			out = append(out, average(sorted[i], sorted[j]))
		}
	}
	return out
}

func average(a, b float64) float64 { return (a + b) / 2 }

// SignedRank is the two-sided p of Wilcoxon's signed-rank test that d is
// symmetric about 0. Zeros are left out, as Wilcoxon did; ties share their
// mean rank, and the distribution is the exact one given those ties.
func SignedRank(d []float64) float64 {
	x := lists.Filter(d, func(v float64) bool { return v != 0 })
	n := len(x)
	if n == 0 {
		return 1
	}
	slices.SortFunc(x, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	// Ranks are doubled, so that mean ranks are whole.
	ranks := make([]int, n)
	plus, tied := 0, false
	for i := 0; i < n; {
		j := i
		for j < n && math.Abs(x[j]) == math.Abs(x[i]) {
			j++
		}
		for k := i; k < j; k++ {
			ranks[k] = i + j + 1
			if x[k] > 0 {
				plus += ranks[k]
			}
		}
		tied = tied || j > i+1
		i = j
	}
	if n > exactTo {
		mu, squares := 0.0, 0.0
		for _, r := range ranks {
			mu += float64(r) / 4
			squares += float64(r) * float64(r) / 16
		}
		z := (math.Abs(float64(plus)/2-mu) - 0.5) / math.Sqrt(squares)
		return min(1, 2*distuv.UnitNormal.Survival(max(z, 0)))
	}
	var p []float64
	if tied {
		p = subsetSums(ranks)
	} else {
		p, plus = signedRanks(n), plus/2
	}
	low, high := 0.0, 0.0
	for s, v := range p {
		if s <= plus {
			low += v
		}
		if s >= plus {
			high += v
		}
	}
	return min(1, 2*min(low, high))
}

// SignedRankFloor is the smallest p that n pairs can give.
func SignedRankFloor(n int) float64 { return min(1, 2*math.Pow(0.5, float64(n))) }
