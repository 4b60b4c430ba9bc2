// Package load reads open loops: how fast an engine starts containers when they
// arrive at a rate of their own, and up to which rate it holds.
package load

import (
	"maps"
	"slices"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/sample"
)

// Cell is what the load trials of one environment show together.
type Cell struct {
	Env    string `json:"env"`
	Trials int    `json:"trials"`
	// Offered and Achieved are rates, containers a second: medians over the
	// trials. Holds and Fails are the bracket of a search: the highest rate lies
	// between the two. 0 is none.
	Offered  float64 `json:"offered,omitempty"`
	Achieved float64 `json:"achieved,omitempty"`
	Search   bool    `json:"search,omitempty"`
	Holds    float64 `json:"holds,omitempty"`
	Fails    float64 `json:"fails,omitempty"`

	Arrivals    int              `json:"arrivals"`
	Done        int              `json:"done"`
	Failed      int              `json:"failed"`
	Refused     int              `json:"refused"`
	Classes     []sample.Failure `json:"classes,omitempty"`
	MaxInFlight int              `json:"max_in_flight"`
	// Limits are what ended a load of a given rate early, each class once.
	Limits []record.Limit `json:"limits,omitempty"`
	// Latency has the quantiles over all arrivals of all trials that they carry
	// (of a search: those at the rate that held). What failed or was refused
	// counts as later than all others. Without intervals: arrivals that queue
	// behind one another are not independent; the intervals over blocks are in
	// the tables.
	Latency []Quantile `json:"latency,omitempty"`
	// Probes are all rates that were tried, trial after trial.
	Probes []record.LoadProbe `json:"probes,omitempty"`
	// Queue is that of the first trial, thinned.
	Queue *Queue `json:"queue,omitempty"`
}

// Quantile is one of a distribution of N values, in ns.
type Quantile struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	N     int     `json:"n"`
}

// maxQueue bounds the points of a queue's curve.
const maxQueue = 500

// New sums the load trials of an environment up.
func New(env string, loads []*OpenLoop) Cell {
	c := Cell{Env: env, Trials: len(loads), Search: loads[0].Search}
	classes := map[record.Class]int{}
	var offered, achieved, holds, fails, latency []float64
	for _, l := range loads {
		c.Arrivals, c.Done, c.Failed, c.Refused = c.Arrivals+l.Arrivals, c.Done+l.Done, c.Failed+l.Failed, c.Refused+l.Refused
		c.MaxInFlight = max(c.MaxInFlight, l.MaxInFlight)
		for class, n := range l.Classes {
			classes[class] += n
		}
		latency = append(latency, l.Latency...)
		c.Probes = append(c.Probes, l.Probes...)
		if l.Search {
			holds, fails = append(holds, l.Holds), append(fails, l.Fails)
			continue
		}
		for _, p := range l.Probes {
			offered, achieved = append(offered, p.Rate), append(achieved, p.Achieved)
			if p.Limit != nil && !slices.ContainsFunc(c.Limits, func(o record.Limit) bool { return o.Class == p.Limit.Class }) {
				c.Limits = append(c.Limits, *p.Limit)
			}
		}
	}
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		c.Classes = append(c.Classes, sample.Failure{Class: class, N: classes[class]})
	}
	for to, x := range map[*float64][]float64{&c.Offered: offered, &c.Achieved: achieved, &c.Holds: holds, &c.Fails: fails} {
		if len(x) > 0 {
			*to = stats.Median(stats.Sorted(x))
		}
	}
	slices.Sort(latency)
	for _, q := range record.LoadQuantiles {
		if v, ok := supported(latency, q.Q); ok {
			c.Latency = append(c.Latency, Quantile{Name: q.Name, Value: v, N: len(latency)})
		}
	}
	c.Queue = loads[0].Queue.thinned()
	return c
}

// thinned keeps the highest point of each stretch: the peaks are what matters.
func (q Queue) thinned() *Queue {
	n := len(q.Seconds)
	if n == 0 {
		return nil
	}
	step := (n + maxQueue - 1) / maxQueue
	out := &Queue{}
	for i := 0; i < n; i += step {
		most := i
		for k := i; k < min(i+step, n); k++ {
			if q.InFlight[k] > q.InFlight[most] {
				most = k
			}
		}
		out.Seconds, out.InFlight = append(out.Seconds, q.Seconds[most]), append(out.InFlight, q.InFlight[most])
	}
	return out
}
