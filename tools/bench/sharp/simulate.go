package sharp

import (
	"math"
	"math/rand/v2"
	"time"
)

// machine is a simulated one, on which the truth is known.
type machine struct {
	name string
	// program gives the logarithms of a program's starts around what its block is worth,
	// one after the other.
	program func(r *rand.Rand) func() float64
	// runs is by how much a run as a whole is slower or faster, own by how much the engine
	// and each baseline are in it besides, standard deviations.
	runs, own float64
}

// machines differ in what scatters from block to block.
func machines() []machine {
	scatter := func(r *rand.Rand) func() float64 { return func() float64 { return 0.03 * r.NormFloat64() } }
	return []machine{
		{name: "independent", program: scatter},
		{name: "outliers", program: func(r *rand.Rand) func() float64 {
			return func() float64 {
				v := 0.03 * r.NormFloat64()
				if r.IntN(20) == 0 {
					v += math.Log(1.1) - math.Log(1-r.Float64())/1.5
				}
				return v
			}
		}},
		{name: "neighbours alike", program: func(r *rand.Rand) func() float64 { return follows(r, 0.6, 0.03) }},
		{name: "spells", program: func(r *rand.Rand) func() float64 {
			slow := false
			return func() float64 {
				if r.IntN(5) == 0 {
					slow = r.IntN(4) == 0
				}
				if slow {
					return 0.06 + 0.02*r.NormFloat64()
				}
				return 0.02 * r.NormFloat64()
			}
		}},
		{name: "slow moves", program: func(r *rand.Rand) func() float64 {
			slow := follows(r, 0.98, 0.01)
			return func() float64 { return slow() + 0.028*r.NormFloat64() }
		}},
		{name: "unlike runs", program: scatter, runs: 0.03, own: 0.01},
	}
}

// follows gives values of a standard deviation each of which keeps so much of the one
// before.
func follows(r *rand.Rand, keeps, sd float64) func() float64 {
	v := sd * r.NormFloat64()
	return func() float64 {
		v = keeps*v + math.Sqrt(1-keeps*keeps)*sd*r.NormFloat64()
		return v
	}
}

// What a simulated start takes, and its trial, ns.
const (
	simStart = 1e7
	simWall  = 1.2e7
)

// stretch simulates runs of so many blocks, and rounds of hyperfine that take as long.
func (m machine) stretch(r *rand.Rand, runs, blocks int, changes ...float64) *Stretch {
	s := &Stretch{Engine: m.name, Start: simStart, Changes: changes, Took: time.Minute}
	for range runs {
		s.Runs = append(s.Runs, m.run(r, blocks, changes))
	}
	return s
}

func (m machine) run(r *rand.Rand, blocks int, changes []float64) *Run {
	const perRound = 10
	run := &Run{}
	programs := make([]func() float64, len(changes)+baselines)
	level := m.runs * r.NormFloat64()
	engine := m.own * r.NormFloat64()
	for i := range programs {
		scatter, all := m.program(r), level
		if i < len(changes) {
			all += engine + math.Log1p(changes[i])
		} else {
			all += m.own * r.NormFloat64()
		}
		programs[i] = func() float64 { return simStart * math.Exp(all+scatter()) }
	}
	for range blocks {
		at, b := math.Exp(0.05*r.NormFloat64()), Block{}
		for _, p := range programs {
			b.Start, b.Wall = append(b.Start, at*p()), append(b.Wall, simWall)
		}
		run.Blocks = append(run.Blocks, b)
	}
	for range blocks / perRound {
		d := Round{Wall: perRound * simWall * float64(len(changes))}
		for i := range changes {
			var times []float64
			for range perRound {
				times = append(times, programs[i]())
			}
			d.Times = append(d.Times, times)
		}
		run.Rounds = append(run.Rounds, d)
	}
	return run
}
