package sharp

import (
	"time"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/evaluate"
)

// span is a window: the blocks or rounds from From to before To.
type span struct{ From, To int }

// windows are those of a length that fit into what was measured, each a quarter of
// its length after the one before: they overlap, so that apart says how many of them
// have nothing in common.
func windows(cost []float64, length time.Duration) (all []span, apart int) {
	const steps = 4
	ends := make([]float64, len(cost)+1)
	for i, c := range cost {
		ends[i+1] = ends[i] + c
	}
	for from, at := 0, 0.0; ; at += float64(length) / steps {
		for from < len(cost) && ends[from] < at {
			from++
		}
		to := from
		for to < len(cost) && ends[to]-ends[from] < float64(length) {
			to++
		}
		if to == from || ends[to]-ends[from] < float64(length) {
			break
		}
		all = append(all, span{from, to})
	}
	return all, (len(all) + steps - 1) / steps
}

// costs are what some environments took in each block.
func costs(blocks []Block, envs ...int) []float64 {
	out := make([]float64, len(blocks))
	for i := range blocks {
		out[i] = blocks[i].of(envs...)
	}
	return out
}

// roundCosts are what some programs took in each round.
func roundCosts(rounds []Round, programs ...int) []float64 {
	out := make([]float64, len(rounds))
	for i := range rounds {
		out[i] = rounds[i].of(programs...)
	}
	return out
}

// part is an environment of a record that is made of a window.
type part struct {
	id, baseline string
	env          int // in a block
}

// resultOf analyses some blocks as a run of their own, which a gate ended after so
// many looks.
func resultOf(id string, blocks []Block, parts []part, gate *record.Gate) (*analyze.Result, error) {
	r := &record.Run{Format: record.FormatVersion, ID: id, Status: "done", Gate: gate,
		Protocol:  record.Protocol{Blocks: len(blocks), PerBlock: 1, Order: "random"},
		Workloads: []record.Workload{{ID: "hello", Name: "hello"}}}
	for _, p := range parts {
		r.Environments = append(r.Environments, record.Environment{ID: p.id, Engine: p.id, Baseline: p.baseline})
	}
	trials := make([]record.Trial, 0, len(blocks)*len(parts))
	for b := range blocks {
		for _, p := range parts {
			t := record.Trial{Seq: len(trials), Block: b, Env: p.id, Workload: "hello", Clock: record.ClockShared}
			if ns := int64(blocks[b].Start[p.env]); ns > 0 {
				t.Events = map[record.Event]int64{record.Request: 1, record.Ready: 1 + ns}
			} else {
				t.Failure = &record.Failure{Class: record.EngineError, Text: "it failed"}
			}
			trials = append(trials, t)
		}
	}
	return evaluate.Run(record.InMemory(r, trials), evaluate.Options{})
}
