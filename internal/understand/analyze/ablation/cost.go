package ablation

import (
	"math"

	"plimsoll/internal/record"
)

// Rate says whether the metric is one of which more is better.
func (w *Waterfall) Rate() bool { return w.Metric.Better == record.HigherIsBetter }

// Running says that the metric is none of the life cycle: it is a running workload's
// own, or a ramp's, and most of it may be no work of the engine's.
func (w *Waterfall) Running() bool { return w.Metric.From == "" }

// End names what the chain ends at.
func (w *Waterfall) End() string {
	switch w.Floor.Env {
	case "floor":
		return "the floor"
	case "native":
		return "no container"
	}
	return "at the end"
}

// Top is the larger of the two ends: with everything of a time, at the end of a rate.
func (w *Waterfall) Top() float64 {
	top := w.Base.Median.Value
	if w.Floor.Median != nil {
		top = max(top, w.Floor.Median.Value)
	}
	return top
}

// Before is what there was before a step of the chain was taken away.
func (w *Waterfall) Before(s *Step) float64 {
	if w.Rate() {
		return s.After.Median.Value - s.Chain.Value
	}
	return s.After.Median.Value + s.Chain.Value
}

// cost is how much worse it is with something than without, block by block.
func (m *maker) cost(with, without []float64) []float64 {
	if m.w.Rate() {
		return differences(without, with)
	}
	return differences(with, without)
}

// timeCost is the same where costs of several things add up. A thing that is done
// for each call, request or byte makes each of them longer by the same time,
// whatever else is done; by how much the rate falls depends on the rate.
func (m *maker) timeCost(with, without []float64) []float64 {
	return differences(m.times(with), m.times(without))
}

// times are times as they are, and of a rate the time of one; also the other way
// round. What is not above 0 is no rate.
func (m *maker) times(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		switch {
		case !m.w.Rate():
			out[i] = v
		case v > 0:
			out[i] = 1 / v
		default:
			out[i] = math.NaN()
		}
	}
	return out
}
