package ablation

import (
	"math"
	"slices"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/sample"
)

// HeldOut is a combination that was predicted.
type HeldOut struct {
	Env        string   `json:"env"`
	Mechanisms []string `json:"mechanisms"`
	// Measured is its median; Off by how much it is above what the costs of its
	// mechanisms, each alone, predict: those that are taken away less, those that are
	// added more.
	Measured *sample.Estimate `json:"measured,omitempty"`
	Off      *sample.Estimate `json:"off,omitempty"`
	// Fits: the prediction is within a tenth of what was measured (of a running
	// workload: of what the engine costs it), or the interval of their difference
	// holds 0.
	Fits bool `json:"fits"`
	// Missing says why there is no number.
	Missing string `json:"missing,omitempty"`
}

// Near is how far from what was measured a prediction may lie.
const Near = 0.1

func (m *maker) heldOut(h record.HeldOut) HeldOut {
	out := HeldOut{Env: h.Env, Mechanisms: h.Mechanisms}
	measured, median, why := m.column(h.Env)
	if out.Measured = median; why != "" {
		out.Missing = why
		return out
	}
	rest := m.times(m.base)
	for _, name := range h.Mechanisms {
		is := func(s record.AblationStep) bool { return s.Mechanism == name }
		sign, i, steps := 1.0, slices.IndexFunc(m.a.Steps, is), m.a.Steps
		if i < 0 { // it is there where the others are gone
			sign, i, steps = -1, slices.IndexFunc(m.a.Added, is), m.a.Added
		}
		if i < 0 {
			out.Missing = "nothing is known of " + name
			return out
		}
		var s Step
		with, without := m.alone(&s, &steps[i])
		if with == nil {
			out.Missing = name + " alone: " + s.Missing
			return out
		}
		cost := m.timeCost(with, without)
		rest = rest[:min(len(rest), len(cost))]
		for b := range rest {
			rest[b] -= sign * cost[b]
		}
	}
	if out.Off = estimate(differences(measured, m.times(rest)), stats.Level); out.Off == nil {
		out.Missing = "no block has all of them"
		return out
	}
	out.Fits = math.Abs(out.Off.Value) <= Near*m.scale(out.Measured.Value) || out.Off.Lo != nil && *out.Off.Lo <= 0 && *out.Off.Hi >= 0
	return out
}

// scale is what a prediction's error is held against: of a start what was measured.
// A running workload's time is nearly all its own, and any prediction of it would be
// near; what counts there is what the engine costs it, or what the combination
// changes, where that is more.
func (m *maker) scale(measured float64) float64 {
	if !m.w.Running() {
		return measured
	}
	changed := math.Abs(measured - m.w.Base.Median.Value)
	if m.w.Whole != nil {
		changed = max(changed, math.Abs(m.w.Whole.Value))
	}
	return min(measured, changed)
}
