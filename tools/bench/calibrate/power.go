package calibrate

import (
	"math"
	"math/rand/v2"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/evaluate"
)

// Gains are the true differences that are looked for.
var Gains = []float64{0.01, 0.02, 0.03, 0.05, 0.10}

// Power is how often an environment that is slower than native is found to
// differ from it by more than 1 %, by true difference.
type Power struct {
	Shape  string  `json:"shape"`
	Blocks int     `json:"blocks"`
	Found  []Tally `json:"found"` // in the order of Gains
}

func (p *Power) tallies() []*Tally {
	if p.Found == nil {
		p.Found = make([]Tally, len(Gains))
	}
	var out []*Tally
	for i := range p.Found {
		out = append(out, &p.Found[i])
	}
	return out
}

func (p *Power) sample(s *Shape, reps int, r *rand.Rand) error {
	for i, t := range p.tallies() {
		w := newWorld(s, p.Blocks, 1, 1,
			env{id: "native", baseline: true, effects: []float64{0}},
			env{id: "a", effects: []float64{math.Log1p(Gains[i])}})
		for range reps {
			run, _ := w.simulate(r, 0)
			res, err := evaluate.Run(run, evaluate.Options{})
			if err != nil {
				return err
			}
			q := res.Workloads[0].Table(metric).Cell("a").Ratio("native")
			t.add(q.Verdict == analyze.Differs && q.Value > 1)
		}
	}
	return nil
}
