package stats

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Holm corrects a family of p so that the chance of any false alarm in it is
// the chosen one (Holm 1979). NaN stays NaN and is not of the family.
func Holm(p []float64) []float64 {
	order := byValue(p)
	out := slices.Clone(p)
	run, m := 0.0, len(order)
	for i, k := range order {
		run = max(run, min(1, p[k]*float64(m-i)))
		out[k] = run
	}
	return out
}

// Deviate is how many standard deviations from 0 a normal value lies that has
// this two-sided p.
func Deviate(p float64) float64 { return distuv.UnitNormal.Quantile(1 - p/2) }

// byValue gives the indices of p in rising order, without those of NaN.
func byValue(p []float64) []int {
	var order []int
	for i, v := range p {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	return order
}

// NormalTail is the probability that a standard normal variable exceeds z.
func NormalTail(z float64) float64 { return distuv.UnitNormal.Survival(z) }
