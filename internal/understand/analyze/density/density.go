// Package density reads ramps of containers: what one container more costs, in
// memory and in start time.
package density

import (
	"maps"
	"math"
	"slices"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/sample"
)

// Cell is what the ramps of one environment show together.
type Cell struct {
	Env   string `json:"env"`
	Ramps int    `json:"ramps"`
	// Asked is how many containers there were to be at the top, Reached how many
	// there were in the ramp that came least far.
	Asked   int `json:"asked,omitempty"`
	Reached int `json:"reached"`
	// Limits are what ended ramps early, each class once.
	Limits []record.Limit `json:"limits,omitempty"`
	// Slopes are what one container more adds, by metric.
	Slopes []Slope `json:"slopes,omitempty"`
	// Starts and Stops are times, ns, over how many ran beside; Memory and Down
	// bytes, by part, over how many ran on the way up and down. Of several ramps
	// they are the medians.
	Starts *Points           `json:"starts,omitempty"`
	Stops  *Points           `json:"stops,omitempty"`
	Memory map[string]Points `json:"memory,omitempty"`
	Down   map[string]Points `json:"down,omitempty"`
	// Course is what was not free on the machine above where the ramp began, bytes,
	// over seconds: of each stretch of time the most, so that spikes stay.
	Course *Points `json:"course,omitempty"`
}

// Slope is an estimate of what one container more adds.
type Slope struct {
	Metric string `json:"metric"`
	sample.Estimate
	// Method says what the interval comes from: "ramps" (the median of at least
	// 6 ramps), "t" (the mean of fewer: preliminary), or "points" (of the only
	// ramp: Theil and Sen, which takes its points for independent).
	Method string `json:"method"`
}

// Slope finds a slope of the cell, or nil.
func (c *Cell) Slope(metric string) *Slope {
	for i := range c.Slopes {
		if c.Slopes[i].Metric == metric {
			return &c.Slopes[i]
		}
	}
	return nil
}

// New sums the ramps of an environment up. asked is how many
// containers there were to be at the top.
func New(env string, asked int, ramps []*Ramp) Cell {
	c := Cell{Env: env, Ramps: len(ramps), Asked: asked, Reached: math.MaxInt}
	for _, r := range ramps {
		c.Reached = min(c.Reached, r.Reached)
		if l := r.Limit; l != nil && !slices.ContainsFunc(c.Limits, func(o record.Limit) bool { return o.Class == l.Class }) {
			c.Limits = append(c.Limits, *l)
		}
	}
	c.Slopes, c.Course = slopes(ramps), course(ramps)
	c.Starts = middle(ramps, func(r *Ramp) Points { return r.Starts })
	c.Stops = middle(ramps, func(r *Ramp) Points { return r.Stops })
	c.Memory = middles(ramps, func(r *Ramp) map[string]Points { return r.Memory })
	c.Down = middles(ramps, func(r *Ramp) map[string]Points { return r.Down })
	return c
}

// slopes estimates each slope over all ramps.
func slopes(ramps []*Ramp) []Slope {
	by := map[string][]float64{}
	for _, r := range ramps {
		for id, p := range r.curves() {
			if v, _, _ := slope(p); !math.IsNaN(v) {
				by[id] = append(by[id], v)
			}
		}
	}
	var out []Slope
	for _, id := range slices.Sorted(maps.Keys(by)) {
		out = append(out, overRamps(id, by[id], ramps[0].curves()[id]))
	}
	return out
}

func overRamps(id string, values []float64, only Points) Slope {
	s := Slope{Metric: id}
	x := stats.Sorted(values)
	switch {
	case len(x) >= sample.MinRank:
		i, ok := stats.MedianInterval(x, stats.Level)
		s.Method, s.Estimate = "ramps", *sample.NewEstimate(stats.Median(x), i, ok)
	case len(x) > 1:
		mean, i, ok := stats.TInterval(x, stats.Level)
		s.Method, s.Estimate = "t", *sample.NewEstimate(mean, i, ok)
	default:
		v, i, ok := slope(only)
		s.Method, s.Estimate = "points", *sample.NewEstimate(v, i, ok)
	}
	return s
}

// middle is the median of the ramps' curves at each number of containers.
func middle(ramps []*Ramp, of func(*Ramp) Points) *Points {
	at := map[float64][]float64{}
	for _, r := range ramps {
		p := of(r)
		for i, n := range p.N {
			at[n] = append(at[n], p.Y[i])
		}
	}
	if len(at) == 0 {
		return nil
	}
	out := &Points{}
	for _, n := range slices.Sorted(maps.Keys(at)) {
		out.N, out.Y = append(out.N, n), append(out.Y, stats.Median(stats.Sorted(at[n])))
	}
	return out
}

func middles(ramps []*Ramp, of func(*Ramp) map[string]Points) map[string]Points {
	var out map[string]Points
	for _, part := range MemoryParts {
		if p := middle(ramps, func(r *Ramp) Points { return of(r)[part] }); p != nil {
			if out == nil {
				out = map[string]Points{}
			}
			out[part] = *p
		}
	}
	return out
}

// Near is the median of a curve around n, within a twentieth of its length to
// either side; false where it has no point there.
func (p *Points) Near(n float64) (float64, bool) {
	if p == nil || len(p.N) == 0 {
		return 0, false
	}
	reach := (slices.Max(p.N) - slices.Min(p.N)) / 20
	var y []float64
	for i, at := range p.N {
		if math.Abs(at-n) <= reach+0.5 {
			y = append(y, p.Y[i])
		}
	}
	if len(y) == 0 {
		return 0, false
	}
	return stats.Median(stats.Sorted(y)), true
}
