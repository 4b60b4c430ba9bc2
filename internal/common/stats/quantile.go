package stats

import (
	"math"
	"slices"

	"plimsoll/internal/common/lists"
)

// Sorted gives a sorted copy of x.
func Sorted(x []float64) []float64 {
	s := slices.Clone(x)
	Sort(s)
	return s
}

// Quantile is the q-quantile of sorted values, interpolated linearly between
// order statistics (type 7 of Hyndman & Fan 1996, as NumPy and R do). It is
// NaN for no values.
func Quantile(sorted []float64, q float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	h := q * float64(n-1)
	i := int(h)
	if i >= n-1 {
		return sorted[n-1]
	}
	return sorted[i] + (h-float64(i))*(sorted[i+1]-sorted[i])
}

// Median of sorted values.
func Median(sorted []float64) float64 { return Quantile(sorted, 0.5) }

// IQR is the distance between the quartiles of sorted values.
func IQR(sorted []float64) float64 {
	return Quantile(sorted, 0.75) - Quantile(sorted, 0.25)
}

// MAD is the median absolute deviation from the median of sorted values. It
// is not scaled: for normal values σ is 1.4826 times it.
func MAD(sorted []float64) float64 {
	m := Median(sorted)
	d := lists.Map(sorted, func(v float64) float64 { return math.Abs(v - m) })
	slices.Sort(d)
	return Median(d)
}

// FarOut counts the sorted values beyond Tukey's far fences: more than three
// times the IQR outside the quartiles (Exploratory Data Analysis, 1977).
func FarOut(sorted []float64) int {
	q1, q3 := Quantile(sorted, 0.25), Quantile(sorted, 0.75)
	fence := 3 * (q3 - q1)
	return lists.Count(sorted, func(v float64) bool { return v < q1-fence || v > q3+fence })
}

// Distinct is the number of different values among sorted ones.
func Distinct(sorted []float64) int {
	n := 0
	for i, v := range sorted {
		if i == 0 || v != sorted[i-1] {
			n++
		}
	}
	return n
}
