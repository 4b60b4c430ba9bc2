package load

import (
	"cmp"
	"math"
	"slices"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
)

// OpenLoop is what one load trial shows, derived from its series.
type OpenLoop struct {
	// Probes are the rates that were tried, in order; with a given rate one.
	Probes []record.LoadProbe
	// Search: the highest rate was looked for. Holds is the highest that held
	// with none lower that failed, Fails the lowest that failed; 0 is none.
	Search       bool
	Holds, Fails float64

	Arrivals, Done, Failed, Refused int
	MaxInFlight                     int
	Classes                         map[record.Class]int
	// Latency and Whole are intended start to ready and to removed, ns, sorted;
	// +Inf for what failed, was refused or never came. Those of a search are
	// of the rate that held.
	Latency, Whole []float64
	// Queue is how many were in flight at each arrival, over seconds from the
	// first intended start.
	Queue Queue
}

// Queue is a curve over time.
type Queue struct {
	Seconds  []float64 `json:"seconds"`
	InFlight []float64 `json:"in_flight"`
}

// ReadLoad sums a series up.
func ReadLoad(steps []record.LoadStep, search bool) *OpenLoop {
	l := &OpenLoop{Search: search, Classes: map[record.Class]int{}}
	for i := range steps {
		if s := steps[i].Sum; s != nil {
			l.Probes = append(l.Probes, *s)
		}
	}
	l.bracket()
	show := l.shown()
	first := int64(0)
	for i := range steps {
		s := &steps[i]
		if s.Sum != nil {
			continue
		}
		l.Arrivals++
		if !s.Refused {
			l.MaxInFlight = max(l.MaxInFlight, s.InFlight+1)
		}
		latency, whole := math.Inf(1), math.Inf(1)
		switch {
		case s.Refused:
			l.Refused++
		case s.Class != "":
			l.Failed++
			l.Classes[s.Class]++
		default:
			l.Done++
			latency, whole = float64(s.Ready-s.Intended), float64(s.Removed-s.Intended)
		}
		if !show[s.Probe] {
			continue
		}
		first = cmp.Or(first, s.Intended)
		l.Latency, l.Whole = append(l.Latency, latency), append(l.Whole, whole)
		l.Queue.Seconds = append(l.Queue.Seconds, float64(s.Intended-first)/1e9)
		l.Queue.InFlight = append(l.Queue.InFlight, float64(s.InFlight))
	}
	slices.Sort(l.Latency)
	slices.Sort(l.Whole)
	return l
}

// bracket finds the highest rate that holds. The first probe of a search only
// finds out where to begin. Of two probes of the same rate the second speaks
// for both.
func (l *OpenLoop) bracket() {
	if !l.Search || len(l.Probes) < 2 {
		return
	}
	last := map[float64]bool{}
	for _, p := range l.Probes[1:] {
		last[p.Rate] = p.Holds
	}
	for rate, holds := range last {
		if !holds && (l.Fails == 0 || rate < l.Fails) {
			l.Fails = rate
		}
	}
	for rate, holds := range last {
		if holds && rate > l.Holds && (l.Fails == 0 || rate < l.Fails) {
			l.Holds = rate
		}
	}
}

// shown are the probes whose latencies are given.
func (l *OpenLoop) shown() map[int]bool {
	out := map[int]bool{}
	for i, p := range l.Probes {
		if !l.Search || i > 0 && p.Rate == l.Holds {
			out[i] = true
		}
	}
	return out
}

// Values are the metrics of record.LoadMetrics that the load has. A quantile
// is given where the arrivals carry it and it is not one of those that never
// came.
func (l *OpenLoop) Values() map[string]float64 {
	out := map[string]float64{record.LoadInFlight: float64(l.MaxInFlight)}
	if l.Arrivals > 0 {
		out[record.LoadFailed] = float64(l.Failed+l.Refused) / float64(l.Arrivals)
	}
	if l.Search {
		delete(out, record.LoadFailed) // most probes are meant to fail
		if len(l.Probes) > 1 {
			out[record.LoadMaxRate] = l.Holds
		}
		if l.Fails > 0 {
			out[record.LoadNextRate] = l.Fails
		}
	} else if len(l.Probes) > 0 {
		out[record.LoadOffered], out[record.LoadAchieved] = l.Probes[0].Rate, l.Probes[0].Achieved
	}
	for _, q := range record.LoadQuantiles {
		for id, x := range map[string][]float64{record.LoadLatency: l.Latency, record.LoadWhole: l.Whole} {
			if v, ok := supported(x, q.Q); ok {
				out[id+q.Name] = v
			}
		}
	}
	return out
}

// supported is a quantile of sorted values, false where they are too few for
// an interval or too many of them are infinite.
func supported(x []float64, q float64) (float64, bool) {
	if _, ok := stats.QuantileInterval(x, q, stats.Level); !ok {
		return 0, false
	}
	v := stats.Quantile(x, q)
	return v, !math.IsInf(v, 0) && !math.IsNaN(v)
}
