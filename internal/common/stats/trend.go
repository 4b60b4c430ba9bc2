package stats

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// MannKendall tests a series for a monotone trend: tau is Kendall's, S over
// the number of pairs, and p is two-sided: exact without ties up to 50 values
// (by the number of permutations with so many inversions), else normal with
// the variance corrected for ties and a continuity correction (Mann 1945,
// Kendall 1975). Fewer than 3 values show no trend: p is 1.
func MannKendall(x []float64) (tau, p float64) {
	n := len(x)
	if n < 3 {
		return 0, 1
	}
	pairs := n * (n - 1) / 2
	sorted, falls := inversions(x)
	equal := ties(sorted)
	s := pairs - 2*falls
	for _, t := range equal {
		s -= int(t) * (int(t) - 1) / 2
	}
	tau = float64(s) / float64(pairs)
	if n <= exactTo && Distinct(sorted) == n {
		return tau, inversionsP(n, (pairs-abs(s))/2)
	}
	f := float64(n)
	v := f * (f - 1) * (2*f + 5)
	for _, t := range equal {
		v -= t * (t - 1) * (2*t + 5)
	}
	if v <= 0 || s == 0 {
		return tau, 1
	}
	z := (math.Abs(float64(s)) - 1) / math.Sqrt(v/18)
	return tau, min(1, 2*distuv.UnitNormal.Survival(z))
}

// inversions sorts by merging, and counts meanwhile the pairs of which the later one is
// smaller (Knight 1966, Journal of the American Statistical Association 61, 436–439).
func inversions(x []float64) (sorted []float64, count int) {
	from, to := slices.Clone(x), make([]float64, len(x))
	for width := 1; width < len(x); width *= 2 {
		for lo := 0; lo < len(x); lo += 2 * width {
			mid, hi := min(lo+width, len(x)), min(lo+2*width, len(x))
			for i, j, k := lo, mid, lo; k < hi; k++ {
				if j == hi || i < mid && from[i] <= from[j] {
					to[k] = from[i]
					i++
				} else {
					to[k] = from[j]
					count += mid - i
					j++
				}
			}
		}
		from, to = to, from
	}
	return from, count
}

// inversionsP is twice the chance that a random permutation of n has at most
// k inversions.
func inversionsP(n, k int) float64 {
	p := []float64{1}
	for m := 2; m <= n; m++ {
		next := make([]float64, len(p)+m-1)
		run := 0.0
		for i := range next {
			if i < len(p) {
				run += p[i]
			}
			if i >= m {
				run -= p[i-m]
			}
			next[i] = max(run, 0) / float64(m)
		}
		p = next
	}
	sum := 0.0
	for _, v := range p[:k+1] {
		sum += v
	}
	return min(1, 2*sum)
}

func abs(i int) int {
	if i < 0 {
		return -i
	}
	return i
}

// CliffDelta is the chance that a value of a is larger than one of b, less
// the chance that it is smaller: −1…1 (Cliff 1993). 0 where either is empty.
func CliffDelta(a, b []float64) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	x, y := Sorted(a), Sorted(b)
	if x[0] > y[len(y)-1] || x[len(x)-1] < y[0] {
		return float64(cmp.Compare(x[0], y[0]))
	}
	u, _ := above(x, y)
	pairs := float64(len(x)) * float64(len(y))
	return (2*u - pairs) / pairs
}

// Effect puts Cliff's delta into a word, with the bounds of Romano et al.
// 2006: negligible below 0.147, small below 0.33, medium below 0.474, large.
func Effect(delta float64) string {
	switch d := math.Abs(delta); {
	case d < 0.147:
		return "negligible"
	case d < 0.33:
		return "small"
	case d < 0.474:
		return "medium"
	}
	return "large"
}
