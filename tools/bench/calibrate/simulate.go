package calibrate

import (
	"math"
	"math/rand/v2"

	"plimsoll/internal/record"
)

// metric is the simulated metric.
const metric = "time"

// nativeMedian is the baseline's median, ns.
const nativeMedian = 1e8

// env is a simulated environment: its true effects by workload, on the
// logarithm.
type env struct {
	id       string
	baseline bool
	effects  []float64
	// lost is how much of what evenly shared processors would cost it others cost it.
	lost float64
}

// world is a run to be simulated.
type world struct {
	shape            *Shape
	blocks, perBlock int
	envs             []env
	works            []string
	// drift is the machine's, where it is not the shape's own.
	drift func(r *rand.Rand, blocks int) []float64
	// others is how many threads of others run beside it, for each of its processors.
	others float64
}

func newWorld(s *Shape, blocks, perBlock, works int, envs ...env) *world {
	s.prepare()
	w := &world{shape: s, blocks: blocks, perBlock: perBlock, envs: envs}
	for i := range works {
		w.works = append(w.works, string(rune('a'+i)))
	}
	return w
}

func (w *world) run() *record.Run {
	run := &record.Run{Format: record.FormatVersion, ID: "simulated", Status: "done", Host: record.Host{CPUs: 1},
		Protocol: record.Protocol{Blocks: w.blocks, PerBlock: w.perBlock, Order: "random"}}
	for _, e := range w.envs {
		x := record.Environment{ID: e.id, Engine: e.id}
		if e.baseline {
			x.Baseline = "native"
		}
		run.Environments = append(run.Environments, x)
	}
	for _, id := range w.works {
		run.Workloads = append(run.Workloads, record.Workload{ID: id, Metrics: []record.Metric{
			{ID: metric, Unit: "ns", Better: record.LowerIsBetter, Title: metric}}})
	}
	return run
}

// simulate draws one run on a machine that is as fast as speed says, on the
// logarithm, and gives the machine's drift too.
func (w *world) simulate(r *rand.Rand, speed float64) (*record.Reader, []float64) {
	s := w.shape
	drift := make([]float64, w.blocks)
	move := w.drift
	if move == nil {
		move = s.drift
	}
	if move != nil {
		drift = move(r, w.blocks)
	}
	trials := make([]record.Trial, 0, w.blocks*w.perBlock*len(w.envs)*len(w.works))
	for b := range w.blocks {
		block := speed + drift[b]
		if move == nil {
			block += common * r.NormFloat64()
		}
		for i, work := range w.works {
			for _, e := range w.envs {
				noise := s.noise
				if e.baseline && s.like != nil {
					noise = s.like
				}
				for range w.perBlock {
					v := s.rounded(nativeMedian * math.Exp(block+e.effects[i]+e.lost*math.Log1p(w.others)+noise(r)))
					t := record.Trial{Seq: len(trials), Block: b, Env: e.id, Workload: work, Values: map[string]float64{metric: v}}
					if w.others > 0 {
						t.Running, t.Remarks = &w.others, []string{record.NotQuiet}
					}
					trials = append(trials, t)
				}
			}
		}
	}
	return record.InMemory(w.run(), trials), drift
}
