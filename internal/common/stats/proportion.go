package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Wilson is the score interval for k of n (Wilson 1927). For n = 0 it is 0…1.
func Wilson(k, n int, level float64) Interval {
	if n == 0 {
		return Interval{0, 1}
	}
	z := distuv.UnitNormal.Quantile(1 - (1-level)/2)
	f, p := float64(n), float64(k)/float64(n)
	den := 1 + z*z/f
	mid := (p + z*z/(2*f)) / den
	h := z / den * math.Sqrt(p*(1-p)/f+z*z/(4*f*f))
	i := Interval{max(0, mid-h), min(1, mid+h)}
	// Rounding must not leave a trace where the bound is exact.
	if k == 0 {
		i.Lo = 0
	}
	if k == n {
		i.Hi = 1
	}
	return i
}
