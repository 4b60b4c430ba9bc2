package sharp

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"plimsoll/internal/common/stats"
)

// leveled is a stretch whose runs lie as far apart as they would if each were long. The
// centre of a short run is off by what its own blocks scatter, too, and windows that are
// drawn from it, however long, would all have that error: two runs of a machine that
// never moves would be told apart. So of what the centres are apart as much is taken out
// as the scatter inside the runs makes of it, by program and by baseline.
func (s *Stretch) leveled() *Stretch {
	out := *s
	out.Runs = slices.Clone(s.Runs)
	for i, r := range out.Runs {
		c := *r
		c.Blocks, c.Rounds = slices.Clone(r.Blocks), slices.Clone(r.Rounds)
		for b := range c.Blocks {
			c.Blocks[b].Start = slices.Clone(c.Blocks[b].Start)
		}
		for d := range c.Rounds {
			c.Rounds[d].Times = slices.Clone(c.Rounds[d].Times)
		}
		out.Runs[i] = &c
	}
	n := len(s.Changes)
	// The programs are one engine, and are moved alike.
	for col, of := range map[int][]int{0: upTo(n), n: {n}, n + 1: {n + 1}} {
		by := s.excess(func(r *Run) [][]float64 {
			var units [][]float64
			for _, b := range r.Blocks {
				if b.Start[col] > 0 {
					units = append(units, []float64{math.Log(b.Start[col])})
				}
			}
			return units
		})
		for i, r := range out.Runs {
			for b := range r.Blocks {
				for _, e := range of {
					r.Blocks[b].Start[e] *= math.Exp(-by[i])
				}
			}
		}
	}
	by := s.excess(func(r *Run) [][]float64 {
		var units [][]float64
		for _, d := range r.Rounds {
			var logs []float64
			for _, t := range d.Times[0] {
				logs = append(logs, math.Log(t))
			}
			units = append(units, logs)
		}
		return units
	})
	for i, r := range out.Runs {
		for d := range r.Rounds {
			for k, times := range r.Rounds[d].Times {
				moved := make([]float64, len(times))
				for j, t := range times {
					moved[j] = t * math.Exp(-by[i])
				}
				r.Rounds[d].Times[k] = moved
			}
		}
	}
	return &out
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// excess is by how much each run's centre lies farther off that of all than it would if
// the run were long. The scatter of a centre is that of runs that are drawn from it.
func (s *Stretch) excess(unitsOf func(*Run) [][]float64) []float64 {
	const draws = 40
	rnd := rand.New(rand.NewPCG(11, 13))
	out := make([]float64, len(s.Runs))
	var centers []float64
	inside := 0.0
	for _, r := range s.Runs {
		units := unitsOf(r)
		one := make([]float64, len(units))
		for i := range one {
			one[i] = 1
		}
		if len(units) < 2 {
			return out
		}
		var again []float64
		for range draws {
			again = append(again, stats.HodgesLehmann(slices.Concat(drawn(rnd, units, one, time.Duration(len(units)))...)))
		}
		w := widened(len(units))
		inside += w * w * stat.Variance(again, nil) / float64(len(s.Runs))
		centers = append(centers, stats.HodgesLehmann(slices.Concat(units...)))
	}
	if len(centers) < 2 {
		return out
	}
	apart := stat.Variance(centers, nil)
	if apart <= 0 {
		return out
	}
	keep, middle := math.Sqrt(max(0, apart-inside)/apart), sum(centers)/float64(len(centers))
	for i, c := range centers {
		out[i] = (1 - keep) * (c - middle)
	}
	return out
}
