package stats

import "math"

// dipCritical is the 0.99 quantile of √n·dip for n values of a uniform
// distribution, the hardest of the unimodal ones to tell (by simulation:
// testdata/dipcritical.py).
var dipCritical = []struct {
	n int
	q float64
}{
	{10, 0.504},
	{20, 0.540},
	{50, 0.573},
	{100, 0.592},
	{200, 0.604},
	{500, 0.619},
	{2000, 0.630},
	{10000, 0.631},
}

// TwoHumps says whether sorted values are of more than one hump, with a
// chance of at most 1 % of a false alarm. Fewer than 20 values say nothing.
func TwoHumps(sorted []float64) bool {
	n := len(sorted)
	if n < 20 {
		return false
	}
	return dip(sorted)*math.Sqrt(float64(n)) > critical(n)
}

func critical(n int) float64 {
	last := dipCritical[0]
	for _, c := range dipCritical[1:] {
		if n <= c.n {
			// In 1/√n the table is close to a straight line.
			a, b := 1/math.Sqrt(float64(last.n)), 1/math.Sqrt(float64(c.n))
			f := (a - 1/math.Sqrt(float64(n))) / (a - b)
			return last.q + f*(c.q-last.q)
		}
		last = c
	}
	return last.q
}
