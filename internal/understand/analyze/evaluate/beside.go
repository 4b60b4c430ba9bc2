package evaluate

import (
	"math"

	"plimsoll/internal/understand/analyze"
)

// beside says by block what else the machine did around the trials of a workload.
func (s *store) beside(w int) []analyze.Beside {
	var out []analyze.Beside
	order := s.order
	for e, c := range s.cells[w] {
		if len(c.block) == 0 {
			continue
		}
		b := analyze.Beside{Env: s.run.Environments[e].ID, Lost: make([]float64, len(order)), Waits: map[analyze.Wait][]float64{}}
		lasted, trials := make([]float64, len(order)), make([]float64, len(order))
		for _, k := range analyze.Waits {
			b.Waits[k] = make([]float64, len(order))
		}
		running, looks := 0.0, 0.0
		for i := range c.around {
			a, place := &c.around[i], order[c.block[i]]
			lasted[place] += float64(a.lasted)
			trials[place]++
			b.Lost[place] += a.lost(s.run.Host.CPUs)
			if a.busy {
				b.Busy++
			}
			if a.running >= 0 {
				running += float64(a.running)
				looks++
			}
			b.Waits[analyze.WaitIO][place] += float64(a.io)
			b.Waits[analyze.WaitMemory][place] += float64(a.memory)
			b.Waits[analyze.WaitSteal][place] += float64(a.steal)
		}
		b.Busy /= float64(len(c.around))
		if looks > 0 {
			b.Running = new(running / looks)
		}
		for place := range order {
			b.Lost[place] = per(b.Lost[place], trials[place])
			for _, shares := range b.Waits {
				if trials[place] == 0 || lasted[place] > 0 { // else nothing was recorded, and it is 0
					shares[place] = per(shares[place], lasted[place])
				}
			}
		}
		out = append(out, b)
	}
	return out
}

// mostWaited is the share of a trial's time that waiting may have cost it at most.
// Pressure is read around what is timed, so that it may say more than all.
const mostWaited = 0.95

// preferred is how much of that a start loses: it sleeps again and again, and the
// kernel prefers threads that have slept to those that compute. Measured, in 816
// comparisons of real runs of unlike load: docs/statistics.md.
const preferred = 0.5

// lost is by how much longer a trial may have taken for what others did on the
// processors, on the logarithm: nothing where it began on a calm machine. A thread
// that computes would lose no more than the time in which somebody waited for a
// processor, and, of evenly shared processors, as much as there were others.
func (a *around) lost(cpus int) float64 {
	if !a.busy {
		return 0
	}
	most := -math.Log1p(-mostWaited)
	if a.lasted > 0 {
		most = -math.Log1p(-min(float64(a.cpu/a.lasted), mostWaited))
	}
	if a.running >= 0 && cpus > 0 {
		most = min(most, math.Log1p(float64(a.running)/float64(cpus)))
	}
	return preferred * most
}

// per is NaN where there is nothing to divide by.
func per(v, by float64) float64 {
	if by > 0 {
		return v / by
	}
	return math.NaN()
}
