package report

import (
	"fmt"

	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/words"
)

// sentence is the verdict in one line.
func (p *Pair) sentence(ch *compare.Change) string {
	what := words.Clean(ch.Metric.ID) + " of " + words.Clean(ch.Workload)
	s := words.Clean(p.Program) + ": " + p.answer(ch)
	if ch.Missing != "" {
		s += ": " + what + ": " + words.Clean(ch.Missing)
	} else {
		s += ": " + what + " " + relative(p.Ratio) + " (" + p.evidence(ch) + ")"
	}
	if p.Outcome == compare.Unclear && p.Finds != nil {
		s += "; nine of ten such runs find " + sample.Percent(*p.Finds)
	}
	if why := mostOf(p.Changes, ch); why != "" && p.Outcome != compare.Unclear {
		s += "; " + why
	}
	if g := p.Changes.Gate; g != nil {
		s += "; the gate " + map[compare.State]string{compare.Passed: "passes", compare.GateFails: "fails", compare.Inconclusive: "cannot tell"}[g.State]
		if ch.Gate != nil {
			s += " (" + sample.Percent(ch.Gate.Threshold) + ")"
		}
	}
	return s
}

// answer is what the new one is.
func (p *Pair) answer(ch *compare.Change) string {
	better, worse := "better", "worse"
	if faster(ch.Metric) {
		better, worse = "faster", "slower"
	}
	switch p.Outcome {
	case compare.Better:
		return "new is " + better + " than old"
	case compare.Worse:
		return "new is " + worse + " than old"
	case compare.Same:
		return "new and old differ by no more than " + sample.Percent(p.Changes.Delta)
	}
	return "cannot tell new from old"
}

// evidence is what stands behind it.
func (p *Pair) evidence(ch *compare.Change) string {
	unit := ch.Metric.Unit
	s := words.Amount(ch.Base.Value, unit) + " → " + words.Amount(ch.New.Value, unit)
	if p.Ratio == nil || p.Ratio.Lo == nil {
		if ch.Method == "identical" {
			return s + ", each value is the same"
		}
		return s + ", too few blocks for an interval"
	}
	s += fmt.Sprintf(", %.4g %% interval, %s", 100*p.Level, words.Plural(ch.NewBlocks, "block"))
	if ch.Method == "t" {
		s += ", preliminary"
	}
	if p.Changes.New.Tuned {
		s += ", tuned"
	}
	return s
}

// relative is a ratio as people say it: by how many per cent more or less, and from
// twice on how many times.
func relative(r *sample.Estimate) string {
	if r == nil {
		return "n/a"
	}
	if r.Value >= 2 || r.Value <= 0.5 {
		n := words.NumberOf(*r, 1, 3)
		n.Value += " ×"
		return n.String()
	}
	e := sample.Estimate{Value: 100 * (r.Value - 1)}
	if r.Lo != nil && r.Hi != nil {
		e.Lo, e.Hi = new(100*(*r.Lo-1)), new(100*(*r.Hi-1))
	}
	n := words.NumberOf(e, 1, 2)
	if e.Value > 0 {
		n.Value = "+" + n.Value
	}
	n.Value += " %"
	return n.String()
}
