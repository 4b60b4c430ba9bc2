package evaluate

import (
	"fmt"
	"strconv"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/density"
	"plimsoll/internal/understand/analyze/derive"
	"plimsoll/internal/understand/analyze/load"
)

// protocols holds what whole protocols have recorded, by workload and
// environment.
type protocols struct {
	ramps map[[2]int][]*density.Ramp
	loads map[[2]int][]*load.OpenLoop
}

// keepSeries takes up the series of a ramp or an open loop. One that can't be
// read is a remark.
func (s *store) keepSeries(t *record.Trial, from derive.Series) {
	if t.Warmup {
		return
	}
	key := [2]int{s.works[t.Workload], s.envs[t.Env]}
	switch {
	case from.Err != nil:
		s.cells[key[0]][key[1]].remark(fmt.Sprintf("its series %s can't be read: %v", from.File, from.Err))
	case from.Ramp != nil:
		put(&s.protocols.ramps, key, from.Ramp)
	case from.Loop != nil:
		put(&s.protocols.loads, key, from.Loop)
	}
}

func put[T any](m *map[[2]int][]T, key [2]int, v T) {
	if *m == nil {
		*m = map[[2]int][]T{}
	}
	(*m)[key] = append((*m)[key], v)
}

// density sums the ramps of a workload up, an entry for each environment that
// has any.
func (s *store) density(w int) []density.Cell {
	var out []density.Cell
	asked, _ := strconv.Atoi(s.run.Workloads[w].Params["count"])
	for e := range s.run.Environments {
		if ramps := s.protocols.ramps[[2]int{w, e}]; len(ramps) > 0 {
			out = append(out, density.New(s.run.Environments[e].ID, asked, ramps))
		}
	}
	return out
}

// load sums the load trials of a workload up.
func (s *store) load(w int) []load.Cell {
	var out []load.Cell
	for e := range s.run.Environments {
		if loads := s.protocols.loads[[2]int{w, e}]; len(loads) > 0 {
			out = append(out, load.New(s.run.Environments[e].ID, loads))
		}
	}
	return out
}
