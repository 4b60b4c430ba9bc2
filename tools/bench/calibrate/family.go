package calibrate

import (
	"fmt"
	"math/rand/v2"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/evaluate"
)

// Family is how often a run of many equal environments and native raises any
// false alarm.
type Family struct {
	Shape        string `json:"shape"`
	Blocks       int    `json:"blocks"`
	Environments int    `json:"environments"`
	// RawPairs: any pair with a p below 5 %; Groups: any pair without a common
	// letter. RawRatios: any environment whose p against native is below 5 %;
	// Marks: any that is marked as different from native.
	RawPairs  Tally `json:"raw_pairs"`
	Groups    Tally `json:"groups"`
	RawRatios Tally `json:"raw_ratios"`
	Marks     Tally `json:"marks"`
}

func (f *Family) tallies() []*Tally {
	return []*Tally{&f.RawPairs, &f.Groups, &f.RawRatios, &f.Marks}
}

func (f *Family) sample(s *Shape, reps int, r *rand.Rand) error {
	envs := []env{{id: "native", baseline: true, effects: []float64{0}}}
	for i := 1; i < f.Environments; i++ {
		envs = append(envs, env{id: fmt.Sprint("e", i), effects: []float64{0}})
	}
	w := newWorld(s, f.Blocks, 1, 1, envs...)
	for range reps {
		run, _ := w.simulate(r, 0)
		res, err := evaluate.Run(run, evaluate.Options{})
		if err != nil {
			return err
		}
		table := res.Workloads[0].Table(metric)
		var pairs, groups, ratios, marks bool
		for _, p := range table.Pairs {
			pairs = pairs || p.P != nil && *p.P < 0.05
			groups = groups || p.Holm != nil && *p.Holm < 0.05
		}
		for i := range table.Cells {
			q := table.Cells[i].Ratio("native")
			ratios = ratios || q.P != nil && *q.P < 0.05
			marks = marks || q.Verdict == analyze.Differs
		}
		f.RawPairs.add(pairs)
		f.Groups.add(groups)
		f.RawRatios.add(ratios)
		f.Marks.add(marks)
	}
	return nil
}
