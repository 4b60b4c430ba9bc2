// Package workload is the catalogue of what can run inside a container.
//
// It is opinionated: a workload proves that it ran (the payload answers with
// the trial's random word), and its parameters are levels with names, so that
// two numbers with different parameters are never taken for one.
package workload

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/image"
	"plimsoll/internal/probe"
	"plimsoll/internal/record"
)

// Workload is one entry of the catalogue.
type Workload struct {
	Name  string
	Title string
	What  string // one sentence
	Image string // the image it runs in, unless the study names another; "": it runs in none
	// Parameters lists the levels of each parameter, the default first.
	Parameters map[string][]string
	// Detached is true where the engine must be able to stop a container.
	Detached bool
	// Metrics are those that come with a trial's values.
	Metrics []record.Metric

	pull    bool
	payload func(params map[string]string) probe.PayloadArgs
	grace   time.Duration
}

// Instance is a workload with its parameters chosen.
type Instance struct {
	Payload probe.PayloadArgs // the word is still to be set
	// Stop says that the container is to be stopped by the engine, after
	// Grace at the latest with SIGKILL.
	Stop  bool
	Grace time.Duration
	// Pull, where given: no container is started, an image is pulled.
	Pull *Pull
	// Exec: a container that stays is held, and the payload is executed in it.
	Exec bool
	// Plan, where given, is what a workload from a file does.
	Plan *Plan
	// Density and Load, where given: the trial is a whole protocol.
	Density *Density
	Load    *Load
}

// Pulls says whether the workload is a pull, so that it needs an engine with
// an image store.
func (w Workload) Pulls() bool { return w.pull }

// Argv is the argument list inside the container for a trial with this word.
func (i Instance) Argv(word string) []string {
	p := i.Payload
	p.Word = word
	return p.Argv(image.ProbePath)
}

// Catalogue lists every workload, in the order in which it is shown.
func Catalogue() []Workload {
	return []Workload{
		{
			Name: "hello", Title: "hello", Image: "payload",
			What: "one process that answers, looks around and ends: the life cycle and nothing else",
			payload: func(map[string]string) probe.PayloadArgs {
				return probe.PayloadArgs{Report: true}
			},
		},
		{
			Name: "stop", Title: "stop", Image: "payload", Detached: true, grace: 2 * time.Second,
			What:       "one process that stays until the engine stops it; on-term says whether it handles SIGTERM",
			Parameters: map[string][]string{"on-term": {"exit", "ignore"}},
			payload: func(p map[string]string) probe.PayloadArgs {
				return probe.PayloadArgs{Report: true, Stay: true, OnTerm: p["on-term"]}
			},
		},
		pullWorkload(),
	}
}

// Find gives the workload of this name.
func Find(name string) (Workload, error) {
	all := Catalogue()
	i := slices.IndexFunc(all, func(w Workload) bool { return w.Name == name })
	if i < 0 {
		names := make([]string, len(all))
		for k, w := range all {
			names[k] = w.Name
		}
		return Workload{}, fmt.Errorf("no workload %q in the catalogue (it has %s)", name, strings.Join(names, ", "))
	}
	return all[i], nil
}

// Instance chooses the parameters; a missing one takes its first level.
func (w Workload) Instance(params map[string]string) (Instance, error) {
	chosen := map[string]string{}
	for name, levels := range w.Parameters {
		chosen[name] = levels[0]
	}
	for name, level := range params {
		levels, ok := w.Parameters[name]
		if !ok {
			return Instance{}, fmt.Errorf("workload %s has no parameter %q", w.Name, name)
		}
		if !slices.Contains(levels, level) {
			return Instance{}, fmt.Errorf("workload %s: parameter %s can't be %q (it can be %s)", w.Name, name, level, strings.Join(levels, ", "))
		}
		chosen[name] = level
	}
	if w.pull {
		return Instance{Pull: &Pull{Image: chosen["image"], Cache: chosen["cache"]}}, nil
	}
	return Instance{Payload: w.payload(chosen), Stop: w.Detached, Grace: w.grace}, nil
}
