package timeline

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
)

// Observed is what two explanations say of one mechanism: A with it and B without.
type Observed struct {
	// With and Without are the times of the two, ns: the means of their trees.
	With    int64 `json:"with_ns"`
	Without int64 `json:"without_ns"`
	// Gone is the time of what is on the way with it and hardly without it, less that of
	// what comes in its place; Else is what other steps take less (more, where
	// negative) without it.
	Gone int64 `json:"gone_ns"`
	Else int64 `json:"else_ns"`
	// Kinds divide Else by what the steps are that stay, the largest first.
	Kinds []record.ObservedKind `json:"kinds,omitempty"`
	// Steps are the causes whose time differs the most, summed over the programs that
	// they were of: at most five.
	Steps []record.ObservedStep `json:"steps,omitempty"`
}

// Observe reads a comparison as one of a mechanism.
func Observe(c *Comparison) Observed {
	o := Observed{With: c.Tree.A, Without: c.Tree.B}
	kinds := map[record.StepKind]int64{}
	type step struct {
		record.ObservedStep
		kind record.StepKind
		of   *record.ObservedStep // all of its program
	}
	seen, programs := map[string]*step{}, map[string]*record.ObservedStep{}
	var all []*step
	var walk func(p *Pair, program string)
	walk = func(p *Pair, program string) {
		if len(p.Steps) > 0 {
			for _, s := range p.Steps {
				name := program
				if !p.Cause && p.Name != "" {
					name = p.Name
				}
				walk(s, name)
			}
			return
		}
		name := p.Name
		if program != "" && program != name {
			name = program + ": " + name
		}
		x := seen[name]
		if x == nil {
			if programs[program] == nil {
				programs[program] = &record.ObservedStep{}
			}
			x = &step{record.ObservedStep{Name: name, Anyhow: anyhow(p.Name, program)}, kindOf(p.Name), programs[program]}
			seen[name] = x
			all = append(all, x)
		}
		x.With, x.Without = x.With+p.A, x.Without+p.B
		x.of.With, x.of.Without = x.of.With+p.A, x.of.Without+p.B
	}
	walk(c.Tree, "")
	for _, x := range all {
		less := x.With - x.Without
		x.Anyhow = x.Anyhow && !x.of.Gone()
		if x.Gone() {
			o.Gone += less
		} else {
			o.Else += less
			kinds[x.kind] += less
		}
	}
	for _, k := range []record.StepKind{record.GraceStep, record.ProcessorStep, record.WaitStep, record.WorkStep} {
		if ns := kinds[k]; ns != 0 {
			o.Kinds = append(o.Kinds, record.ObservedKind{Kind: k, NS: ns})
		}
	}
	slices.SortStableFunc(o.Kinds, func(p, q record.ObservedKind) int { return cmp.Compare(size(q.NS), size(p.NS)) })
	slices.SortStableFunc(all, func(p, q *step) int { return cmp.Compare(size(q.With-q.Without), size(p.With-p.Without)) })
	for _, x := range all[:min(5, len(all))] {
		o.Steps = append(o.Steps, x.ObservedStep)
	}
	return o
}

// anyhow says whether a program that stays does something with a mechanism and without: it
// waits for a processor, or for a thread of its own. Where the way leads to such a wait is
// chance, and that it is there in some starts and not in others says nothing of a mechanism.
func anyhow(cause, program string) bool {
	return overall(cause) == processor || cause == "waits for "+goLooks || ofItself(cause, program)
}

// kindOf says what kind of step has a cause.
func kindOf(cause string) record.StepKind {
	switch {
	case cause != "a wait" && !strings.HasPrefix(cause, "waits "):
		return record.WorkStep
	case strings.Contains(cause, "RCU"):
		return record.GraceStep
	case overall(cause) == processor:
		return record.ProcessorStep
	}
	return record.WaitStep
}

// Apart is by how much starts took longer than others that stood beside them, ns by the
// block: a 95 % interval, nil where there are too few pairs.
func Apart(with, without map[int]int64) *Range {
	var more []float64
	for _, block := range slices.Sorted(maps.Keys(with)) {
		if ns, ok := without[block]; ok {
			more = append(more, float64(with[block]-ns))
		}
	}
	if _, i, ok := stats.PseudoMedian(more, stats.Level); ok {
		return &Range{Lo: i.Lo, Hi: i.Hi}
	}
	return nil
}
