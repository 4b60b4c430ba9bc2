package view

import "math"

// thin chooses at most n points of a curve by largest triangles in three
// buckets, so that its peaks stay: the first and the last point, and of each
// bucket between them the one that spans the largest triangle with the point
// chosen before and the mean of the next bucket. It gives their places. (S.
// Steinarsson, Downsampling Time Series for Visual Representation, M.Sc.
// thesis, University of Iceland 2013, 4.2.)
func thin(x, y []float64, n int) []int {
	if len(x) <= n || n < 3 {
		out := make([]int, 0, min(len(x), max(n, 0)))
		for i := range cap(out) {
			out = append(out, i)
		}
		return out
	}
	out := make([]int, 1, n)
	// The bucket i holds the points from edge(i) to edge(i+1).
	edge := func(i int) int { return 1 + i*(len(x)-2)/(n-2) }
	for i := range n - 2 {
		from, to := edge(i), edge(i+1)
		end := len(x)
		if i+1 < n-2 {
			end = edge(i + 2)
		}
		var mx, my float64
		for k := to; k < end; k++ {
			mx, my = mx+x[k]/float64(end-to), my+y[k]/float64(end-to)
		}
		a, best, most := out[len(out)-1], from, -1.0
		for k := from; k < to; k++ {
			if area := math.Abs((x[a]-mx)*(y[k]-y[a]) - (x[a]-x[k])*(my-y[a])); area > most {
				best, most = k, area
			}
		}
		out = append(out, best)
	}
	return append(out, len(x)-1)
}
