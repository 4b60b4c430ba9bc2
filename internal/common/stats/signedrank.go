package stats

import (
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

// HodgesLehmann is the pseudo-median alone.
func HodgesLehmann(d []float64) float64 {
	v, _, _ := PseudoMedian(d, Level)
	return v
}

// PseudoMedian is that of d: the median of all Walsh averages (d[i]+d[j])/2, i ≤ j, NaN for
// no values, with its interval: the averages at the depth that the Wilcoxon signed-rank
// distribution gives (Hollander, Wolfe & Chicken, Nonparametric Statistical Methods, 3.2
// and 3.3). The last result is false where d cannot carry it: at 95 % fewer than 6 values.
func PseudoMedian(d []float64, level float64) (float64, Interval, bool) {
	n := len(d)
	if n == 0 {
		return math.NaN(), Interval{}, false
	}
	averages := averagesOf(Sorted(d))
	m, at := averages.n, averages.smallest
	center := at((m + 1) / 2)
	if m%2 == 0 {
		center = (center + at(m/2+1)) / 2
	}
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

// averagesOf are the Walsh averages of sorted values.
func averagesOf(sorted []float64) *counted {
	n := len(sorted)
	c := &counted{n: n * (n + 1) / 2, first: sorted[0], last: sorted[n-1], few: 128 + n/4,
		upTo: func(v float64) int {
			count, _ := walkWalsh(sorted, v, v, nil)
			return count
		},
		list: func(lo, hi float64, count int) []float64 {
			_, list := walkWalsh(sorted, lo, hi, make([]float64, 0, count))
			return list
		}}
	if n >= groupFrom {
		c.near = averagesOf(groups(sorted))
	}
	return c
}

const walkers = 8

// walkWalsh counts the averages that are at most v, and appends those above v and at most
// hi while list has room. It walks along the border between the two, from the smallest
// value i and the largest j: to the next smaller j where their average is above v, else to
// the next i, when all have been counted that i has with the values from itself to j. It
// meets itself after as many steps as there are values.
//
// Where a step goes hangs on two values that have to be fetched first, and there is no
// foreseeing it. So some go at once, each a part of the way, and none branches.
func walkWalsh(sorted []float64, v, hi float64, list []float64) (int, []float64) {
	n := len(sorted)
	var is, js [walkers]int
	for w := range walkers {
		step := w * (n / walkers)
		is[w] = firstInt(0, step-1, func(i int) bool { return average(sorted[i], sorted[n-step+i]) > v })
		js[w] = n - 1 - step + is[w]
	}
	count := 0
	for step := range n/walkers + n%walkers {
		first := 0
		if step >= n/walkers {
			first = walkers - 1 // the last one has the rest
		}
		for w := first; w < walkers; w++ {
			i, j := is[w], js[w]
			a := average(sorted[i], sorted[j])
			up, within := 1, 1
			if a > v {
				up = 0
			}
			if a > hi {
				within = 0
			}
			if up < within { // seldom
				list = column(sorted, i, j, hi, list)
			}
			count += up * (j - i + 1)
			is[w], js[w] = i+up, j-1+up
		}
	}
	return count, list
}

// column appends the averages of j with i and those behind it that are at most hi.
func column(sorted []float64, i, j int, hi float64, list []float64) []float64 {
	for ; i <= j && len(list) < cap(list) && average(sorted[i], sorted[j]) <= hi; i++ {
		list = append(list, average(sorted[i], sorted[j]))
	}
	return list
}

func average(a, b float64) float64 { return (a + b) / 2 }

// SignedRank is the two-sided p of Wilcoxon's signed-rank test that d is
// symmetric about 0. Zeros are left out, as Wilcoxon did; ties share their
// mean rank, and the distribution is the exact one given those ties up to 50 values; of
// more the normal one, as above.
func SignedRank(d []float64) float64 {
	x := Sorted(d)
	beyond := x[firstInt(0, len(x)-1, func(i int) bool { return x[i] > 0 }):]
	below := lists.Map(x[:firstInt(0, len(x)-1, func(i int) bool { return x[i] >= 0 })], func(v float64) float64 { return -v })
	slices.Reverse(below)
	m, n := len(beyond), len(below)+len(beyond)
	if n == 0 {
		return 1
	}
	// The sum of the ranks of those above 0 is their least plus those below 0 that each exceeds.
	u, ties := above(beyond, below)
	sum := u + float64(m)*float64(m+1)/2
	if n > exactTo {
		mu, sigma := signedRankMoments(n)
		z := (math.Abs(sum-mu) - 0.5) / math.Sqrt(sigma*sigma-ties/48)
		return min(1, 2*distuv.UnitNormal.Survival(max(z, 0)))
	}
	p, plus := signedRanks(n), int(sum)
	if ties > 0 { // ranks are doubled, so that mean ranks are whole
		var ranks []int
		for all := Sorted(slices.Concat(below, beyond)); len(ranks) < n; {
			t := leading(all[len(ranks):])
			ranks = append(ranks, slices.Repeat([]int{2*len(ranks) + t + 1}, t)...)
		}
		p, plus = subsetSums(ranks), int(2*sum)
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
