package run

import (
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// lookup holds what the plan's words stand for, each looked up once: a plan
// may have a hundred thousand cells.
type lookup struct {
	works     map[string]workload.Workload // by name
	instances map[string]workload.Instance // by the id that a choice of parameters has
	images    map[string]bool              // by engine: whether it can be given an image
}

func newLookup() lookup {
	return lookup{map[string]workload.Workload{}, map[string]workload.Instance{}, map[string]bool{}}
}

// find gives the workload of this name: the study's own, or the catalogue's.
func (r *runner) find(name string) (workload.Workload, error) {
	if w, ok := r.known.works[name]; ok {
		return w, nil
	}
	w, err := r.findAnew(name)
	if err == nil {
		r.known.works[name] = w
	}
	return w, err
}

func (r *runner) findAnew(name string) (workload.Workload, error) {
	for _, w := range r.Workloads {
		if w.Name == name {
			return w, nil
		}
	}
	return workload.Find(name)
}

// instance chooses the parameters of a workload of the plan.
func (r *runner) instance(rw *record.Workload) (workload.Instance, error) {
	if i, ok := r.known.instances[rw.ID]; ok {
		return i, nil
	}
	w, err := r.find(rw.Name)
	if err != nil {
		return workload.Instance{}, err
	}
	i, err := w.Instance(rw.Params)
	if err == nil {
		r.known.instances[rw.ID] = i
	}
	return i, err
}

// takesImages says whether an engine can be given an image.
func (r *runner) takesImages(name string) bool {
	takes, ok := r.known.images[name]
	if !ok {
		e := r.engines[name]
		takes = e != nil && len(e.Info().Levels[engine.Image]) > 0
		r.known.images[name] = takes
	}
	return takes
}
