package timeline

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
)

// Explanation is where the time of a start went, from several starts of the same
// thing.
type Explanation struct {
	What  string `json:"what"`
	Until string `json:"until"`
	// Starts were traced; Used are the middle half of them, whose mean Tree is.
	Starts int `json:"starts"`
	Used   int `json:"used"`
	// NS is the median of what the starts took, with its 95 % interval where there
	// are enough of them, ns; Without that of the starts that were not traced.
	NS       float64 `json:"ns"`
	Interval *Range  `json:"interval,omitempty"`
	Without  float64 `json:"without_ns,omitempty"`
	// Overhead is what tracing costs: the ratio of traced starts to their untraced
	// neighbours, with its 95 % interval.
	Overhead         float64 `json:"overhead,omitempty"`
	OverheadInterval *Range  `json:"overhead_interval,omitempty"`
	// Lost is the number of events that the kernel had no room for.
	Lost int64 `json:"lost,omitempty"`
	// unexplainedNS is the part of the used starts' mean without a cause that has a
	// name.
	UnexplainedNS int64 `json:"unexplained_ns"`
	// Lacks says why the kernel could not be followed, and what would make it
	// possible. Tree has then only what is seen from outside, and Median is nil.
	Lacks string `json:"lacks,omitempty"`
	Tree  *Step  `json:"tree"`
	// Spans are the engine's own, where they were asked for.
	Spans *OwnSpans `json:"spans,omitempty"`
	// Median is the course of the start whose time is the median.
	Median *Course `json:"-"`

	used []*Course // the middle half
}

// Range is a 95 % interval.
type Range struct {
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
}

// Explain says where the time went. Untraced are the times of starts that were not
// traced, ns, one beside each traced one, or none.
func Explain(traces []*record.Trace, untraced []int64) (*Explanation, error) {
	if len(traces) == 0 {
		return nil, errors.New("nothing was traced")
	}
	if len(untraced) != 0 && len(untraced) != len(traces) {
		return nil, fmt.Errorf("%d traced starts, and %d without", len(traces), len(untraced))
	}
	x := &Explanation{Starts: len(traces)}
	courses := make([]*Course, len(traces))
	trees := make([]*Step, len(traces))
	spans := make([]float64, len(traces))
	for i, t := range traces {
		c := Read(t)
		courses[i], trees[i], spans[i] = c, c.tree(), float64(c.Span)
		x.Lost += c.Lost
	}
	x.What, x.Until = courses[0].What, courses[0].Until
	x.NS, x.Interval = median(spans)
	if len(untraced) > 0 {
		plain, logs := make([]float64, len(untraced)), make([]float64, len(untraced))
		for i, ns := range untraced {
			plain[i], logs[i] = float64(ns), math.Log(spans[i]/float64(ns))
		}
		x.Without, _ = median(plain)
		x.Overhead = math.Exp(stats.HodgesLehmann(logs))
		if _, i, ok := stats.PseudoMedian(logs, 0.95); ok {
			x.OverheadInterval = &Range{Lo: math.Exp(i.Lo), Hi: math.Exp(i.Hi)}
		}
	}
	x.Tree, x.Used = mean(trees)
	// A short program is looked at in few of the starts: what is found counts for all.
	x.Tree.divideAll(courses)
	x.Tree.sort()
	x.UnexplainedNS = x.Tree.unexplainedNS()
	slices.SortStableFunc(courses, func(a, b *Course) int { return cmp.Compare(a.Span, b.Span) })
	from, to := middleHalf(len(courses))
	x.used = courses[from:to]
	x.Median = courses[len(courses)/2]
	return x, nil
}

func median(x []float64) (float64, *Range) {
	s := stats.Sorted(x)
	if i, ok := stats.MedianInterval(s, 0.95); ok {
		return stats.Median(s), &Range{i.Lo, i.Hi}
	}
	return stats.Median(s), nil
}
