package calibrate

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
)

// Plan says what is simulated, and how often.
type Plan struct {
	Seed uint64
	// Shapes are all where it is nil.
	Shapes []*Shape
	// Blocks are those of runs with one trial a block, Clustered those of runs
	// with three, Families those of runs of 50 environments, Powers those in
	// which differences are looked for.
	Blocks, Clustered, Families, Powers []int
	// Pairs are the blocks of each of two runs that are compared with the weights
	// of the baselines learnt.
	Pairs []int
	// HostBlocks are the blocks of each of 5, 10 and 20 hosts.
	HostBlocks []int
	// Reps and FamilyReps are the repetitions; one of a family costs about
	// thirty times as much.
	Reps, FamilyReps int
}

// Report is what came of it.
type Report struct {
	Schema     int         `json:"schema"`
	Seed       uint64      `json:"seed"`
	Reps       int         `json:"reps"`
	FamilyReps int         `json:"family_reps"`
	Shapes     []*Shape    `json:"shapes"`
	Coverage   []*Coverage `json:"coverage"`
	Families   []*Family   `json:"families"`
	Power      []*Power    `json:"power"`
	Pairs      []*Pair     `json:"pairs"`
	Hosts      []*Hosts    `json:"hosts"`
	Gains      []float64   `json:"gains"`
	// Misses are the rows that are not as they are demanded to be.
	Misses []string `json:"misses"`
}

// row is one line of a table.
type row interface {
	tallies() []*Tally
	sample(s *Shape, reps int, r *rand.Rand) error
}

// chunk is how many repetitions share a stream of random numbers.
const chunk = 50

// Run simulates on all processors.
func Run(ctx context.Context, p Plan) (*Report, error) {
	if p.Shapes == nil {
		p.Shapes = Shapes()
	}
	out := &Report{Schema: 1, Seed: p.Seed, Reps: p.Reps, FamilyReps: p.FamilyReps, Shapes: p.Shapes, Gains: Gains,
		Coverage: []*Coverage{}, Families: []*Family{}, Power: []*Power{}, Pairs: []*Pair{}, Hosts: []*Hosts{}, Misses: []string{}}
	s := scheduler{ctx: ctx, seed: p.Seed, slots: make(chan struct{}, runtime.GOMAXPROCS(0))}
	for _, shape := range p.Shapes {
		for k, blocks := range [][]int{1: p.Blocks, 3: p.Clustered} {
			for _, b := range blocks {
				c := &Coverage{Shape: shape.Name, Blocks: b, PerBlock: k}
				out.Coverage = append(out.Coverage, c)
				s.add(shape, p.Reps, c, func() row { return &Coverage{Blocks: b, PerBlock: k} })
			}
		}
		for _, b := range p.Families {
			if shape.like != nil {
				continue // its environments and native are not equal
			}
			f := &Family{Shape: shape.Name, Blocks: b, Environments: 50}
			out.Families = append(out.Families, f)
			s.add(shape, p.FamilyReps, f, func() row { return &Family{Blocks: b, Environments: 50} })
		}
		for d := range drifts {
			if shape.drift != nil {
				break // it is the log-normal one on a machine of that drift
			}
			for _, b := range p.Pairs {
				w := &Pair{Shape: shape.Name, Drift: drifts[d].name, Blocks: b}
				out.Pairs = append(out.Pairs, w)
				s.add(shape, p.Reps, w, func() row { return &Pair{Blocks: b, drift: drifts[d].move} })
			}
		}
		for _, b := range p.HostBlocks {
			for _, n := range []int{5, 10, 20} {
				for _, spread := range []float64{0, 0.02, 0.1} {
					w := &Hosts{Shape: shape.Name, Hosts: n, Blocks: b, Spread: spread}
					out.Hosts = append(out.Hosts, w)
					s.add(shape, p.Reps, w, func() row { return &Hosts{Hosts: n, Blocks: b, Spread: spread} })
				}
			}
		}
		for _, b := range p.Powers {
			if shape.like != nil {
				continue
			}
			w := &Power{Shape: shape.Name, Blocks: b}
			out.Power = append(out.Power, w)
			s.add(shape, p.Reps, w, func() row { return &Power{Blocks: b} })
		}
	}
	if err := s.wait(); err != nil {
		return nil, err
	}
	out.judge()
	return out, nil
}

// scheduler spreads the repetitions of all rows over the processors. Each part
// has its own random numbers, and parts are joined in their order.
type scheduler struct {
	ctx   context.Context
	seed  uint64
	slots chan struct{}
	wg    sync.WaitGroup
	mu    sync.Mutex
	err   error
	parts []part
}

type part struct{ into, from row }

func (s *scheduler) add(shape *Shape, reps int, into row, fresh func() row) {
	for done := 0; done < reps; done += chunk {
		from, n := fresh(), min(chunk, reps-done)
		r := rand.New(rand.NewPCG(s.seed, uint64(len(s.parts))))
		s.parts = append(s.parts, part{into, from})
		s.slots <- struct{}{}
		s.wg.Go(func() {
			defer func() { <-s.slots }()
			err := s.ctx.Err()
			if err == nil {
				err = from.sample(shape, n, r)
			}
			if err != nil {
				s.mu.Lock()
				s.err = err
				s.mu.Unlock()
			}
		})
	}
}

func (s *scheduler) wait() error {
	s.wg.Wait()
	for _, p := range s.parts {
		into := p.into.tallies()
		for i, t := range p.from.tallies() {
			into[i].join(*t)
		}
	}
	return s.err
}
