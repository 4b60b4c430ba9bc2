package sharp

import (
	"math"

	"golang.org/x/perf/benchmath"

	"plimsoll/internal/common/stats"
)

// pooled are all times of a program in some rounds.
func pooled(rounds []Round, program int) (out []float64) {
	for i := range rounds {
		out = append(out, rounds[i].Times[program]...)
	}
	return out
}

// benchstat's test, on the values as they are: is NEW's distribution another one
// than BASE's times factor?
func benchstat(base, next []float64, factor float64) float64 {
	scaled := make([]float64, len(base))
	for i, x := range base {
		scaled[i] = x * factor
	}
	a, b := benchmath.NewSample(scaled, &benchmath.DefaultThresholds), benchmath.NewSample(append([]float64(nil), next...), &benchmath.DefaultThresholds)
	return benchmath.AssumeNothing.Compare(a, b).P
}

// theirTry is what came out of one window of hyperfine's rounds.
type theirTry struct {
	runs int
	// p is of benchstat's test that nothing differs, center the log ratio.
	p, center float64
	// beyond says of each threshold whether NEW is found to be slower by more, with
	// the chance of one of a gate's sides: 2.5 %.
	beyond []bool
}

// benchstatOf compares two samples. A threshold is a share of the start; scale is
// which share of a whole process the start is, and so what a threshold is of it.
func benchstatOf(base, next []float64, scale float64) theirTry {
	t := theirTry{runs: len(next), p: benchstat(base, next, 1), center: logShift(base, next), beyond: make([]bool, len(thresholds))}
	for i, limit := range thresholds {
		edge := 1 + limit*scale
		t.beyond[i] = t.center > math.Log(edge) && benchstat(base, next, edge) < 0.05
	}
	return t
}

// logShift is the shift of the logarithms between two samples.
func logShift(base, next []float64) float64 {
	logs := func(x []float64) []float64 {
		out := make([]float64, len(x))
		for i, v := range x {
			out[i] = math.Log(v)
		}
		return out
	}
	d, _, ok := stats.Shift(logs(next), logs(base), stats.Level)
	if !ok {
		return math.NaN()
	}
	return d
}
