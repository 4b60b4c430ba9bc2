package run

import (
	"context"
	"fmt"
	"math"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
)

const (
	// closeEnough is the ratio of the rate that fails to the one that holds at
	// which a search ends.
	closeEnough = 1.1
	// mostProbes bounds a search.
	mostProbes = 16
	// lowestRate is where a search downwards gives up, containers a second.
	lowestRate = 0.05
)

// search looks for the highest rate that holds the tail: it doubles, or
// halves, until one rate holds and one fails, and then divides the way between
// them. What it gives is that bracket, never one number.
func (l *loader) search(ctx context.Context) {
	b := &bounds{tail: l.what.Tail, quantile: l.what.Quantile}
	rate, err := l.alone(ctx)
	if err != nil {
		l.remarks = append(l.remarks, err.Error())
		return
	}
	var holds, fails float64
	for len(l.probes) < mostProbes && ctx.Err() == nil {
		if l.try(ctx, rate, b) {
			holds = rate
		} else {
			fails = rate
		}
		if l.endangered() {
			return
		}
		switch {
		case fails == 0:
			rate = holds * 2
		case holds == 0 && fails/2 < lowestRate:
			l.remarks = append(l.remarks, fmt.Sprintf("not even %.2g containers a second hold the bound", fails))
			return
		case holds == 0:
			rate = fails / 2
		case fails/holds <= closeEnough:
			return
		default:
			rate = math.Sqrt(holds * fails)
		}
	}
	if ctx.Err() == nil {
		l.remarks = append(l.remarks, fmt.Sprintf("the search ended after %d probes with a wide bracket", mostProbes))
	}
}

// alone is the rate at which containers could follow one another, one at a
// time: where a search begins. Nothing else is taken from it.
func (l *loader) alone(ctx context.Context) (float64, error) {
	const runs = 3
	p := l.probe(ctx, 1/math.Max(l.what.Tail.Seconds(), 0.1), runs, nil)
	if p.Done == 0 {
		return 0, fmt.Errorf("not one of %d containers came to its end", runs)
	}
	var lives []float64
	for _, s := range l.steps {
		if s.Removed > 0 {
			lives = append(lives, float64(s.Removed-s.Request)/1e9)
		}
	}
	return 1 / math.Max(stats.Median(stats.Sorted(lives)), 1e-4), nil
}

// try says whether a rate holds. A doubtful answer is tried once more, and both
// tries count together.
func (l *loader) try(ctx context.Context, rate float64, b *bounds) bool {
	n := max(enough(b.quantile), int(math.Ceil(rate*l.what.For.Seconds())))
	var late, all int
	var holds bool
	for range 2 {
		if ctx.Err() != nil {
			return false
		}
		if !l.o.virtual {
			l.site.quiet(ctx)
		}
		p := l.probe(ctx, rate, n, b)
		late, all = late+p.Late, all+p.Arrivals
		var doubtful bool
		holds, doubtful = verdict(late, all, n, b.quantile)
		last := &l.probes[len(l.probes)-1]
		last.Holds, last.Doubtful = holds && p.Limit == nil, doubtful
		l.steps[len(l.steps)-1].Sum = last
		if p.Limit != nil {
			return false
		}
		if !doubtful {
			break
		}
	}
	return holds
}

// verdict judges a count of late arrivals. A probe that was broken off, since
// too many were late already, is judged by the n that it would have had.
func verdict(late, all, n int, quantile float64) (holds, doubtful bool) {
	of := max(all, n)
	holds = float64(late) <= (1-quantile)*float64(of)
	i := stats.Wilson(late, of, stats.Level)
	doubtful = i.Lo <= 1-quantile && 1-quantile <= i.Hi
	if all < n { // broken off: more of the same would only be worse
		doubtful = false
	}
	return holds, doubtful
}

// endangered says whether the last probe ended for the machine's sake.
func (l *loader) endangered() bool {
	last := l.probes[len(l.probes)-1].Limit
	return last != nil && last.Class != record.LimitInFlight
}

// enough is how many arrivals a quantile needs to have an interval at all: 72
// for p95, 368 for p99.
func enough(q float64) int {
	n := 6
	for !carries(n, q) {
		n++
	}
	return n
}

// carries says whether n values have two-sided order statistics around the
// quantile (see stats.QuantileInterval).
func carries(n int, q float64) bool {
	x := make([]float64, n)
	_, ok := stats.QuantileInterval(x, q, stats.Level)
	return ok
}
