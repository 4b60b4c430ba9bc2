package analyze

import (
	"fmt"
	"io"
	"plimsoll/internal/record"
	"strconv"
)

// protocols holds what whole protocols have recorded, by workload and
// environment.
type protocols struct {
	ramps map[[2]int][]*Ramp
	loads map[[2]int][]*OpenLoop
}

// keepSeries takes up the series of a ramp or an open loop. One that can't be
// read is a remark.
func (s *store) keepSeries(t *record.Trial, from series) {
	if t.Warmup {
		return
	}
	key := [2]int{s.works[t.Workload], s.envs[t.Env]}
	switch {
	case from.err != nil:
		s.cells[key[0]][key[1]].remark(fmt.Sprintf("its series %s can't be read: %v", from.file, from.err))
	case from.ramp != nil:
		put(&s.protocols.ramps, key, from.ramp)
	case from.loop != nil:
		put(&s.protocols.loads, key, from.loop)
	}
}

func put[T any](m *map[[2]int][]T, key [2]int, v T) {
	if *m == nil {
		*m = map[[2]int][]T{}
	}
	(*m)[key] = append((*m)[key], v)
}

func readAll[T any](r *record.Reader, name string) ([]T, error) {
	f, err := r.Samples(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return lines[T](f, name)
}

func lines[T any](in io.Reader, name string) ([]T, error) {
	var out []T
	for v, err := range record.ReadLines[T](in, name) {
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// density sums the ramps of a workload up, an entry for each environment that
// has any.
func (s *store) density(w int) []DensityCell {
	var out []DensityCell
	asked, _ := strconv.Atoi(s.run.Workloads[w].Params["count"])
	for e := range s.run.Environments {
		if ramps := s.protocols.ramps[[2]int{w, e}]; len(ramps) > 0 {
			out = append(out, NewDensityCell(s.run.Environments[e].ID, asked, ramps))
		}
	}
	return out
}

// load sums the load trials of a workload up.
func (s *store) load(w int) []LoadCell {
	var out []LoadCell
	for e := range s.run.Environments {
		if loads := s.protocols.loads[[2]int{w, e}]; len(loads) > 0 {
			out = append(out, NewLoadCell(s.run.Environments[e].ID, loads))
		}
	}
	return out
}
