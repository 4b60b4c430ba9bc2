// Package workload is the catalogue of what can run inside a container.
//
// It is opinionated: a workload proves that it ran (the payload answers with
// the trial's random word), and its parameters are levels with names, so that
// two numbers with different parameters are never taken for one.
//
// Why it is so: docs/decisions/workloads.md.
package workload

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

const lifeCycle = "life-cycle"

// Workload is one entry of the catalogue.
type Workload struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	What  string `json:"what"`            // one sentence
	Image string `json:"image,omitempty"` // the image it runs in, unless the study names another; "": it runs in none
	// Group is one of Groups.
	Group string `json:"group"`
	// Parameters lists the levels of each parameter, the default first.
	Parameters map[string][]string `json:"parameters,omitempty"`
	// Numbers are the parameters that take any other whole number of a range too.
	Numbers map[string]Number `json:"numbers,omitempty"`
	// About says what a parameter is.
	About map[string]string `json:"about,omitempty"`
	// Small are the levels of a small trial, by parameter; the others have
	// their default.
	Small map[string]string `json:"small,omitempty"`
	// Detached is true where the engine must be able to stop a container.
	Detached bool `json:"detached"`
	// Needs are what the workload needs to make sense.
	Needs Needs `json:"needs"`
	// Metrics are those that come with a trial's values.
	Metrics []record.Metric `json:"metrics,omitempty"`
	// Path and Source are of a workload from a file: where it was read from
	// (empty for the catalogue's own) and its text.
	Path, Source string `json:"-"`

	pull     bool
	payload  func(params map[string]string) probe.PayloadArgs
	grace    time.Duration
	exec     bool
	protocol func(params map[string]string) Instance // density and load
	// takes is what a trial takes where a container's life takes each.
	takes func(params map[string]string, each time.Duration) time.Duration
	file  *document
	// builtin is the command line of the image's own program that a built-in
	// workload runs, if it does.
	builtin []string
}

// Number is a range of whole numbers, both ends included.
type Number struct {
	Min int64 `json:"min"`
	Max int64 `json:"max"`
}

// Has says whether a level is a number of the range, as it is written: without
// leading zeros and signs.
func (n Number) Has(level string) bool {
	v, err := strconv.ParseInt(level, 10, 64)
	return err == nil && strconv.FormatInt(v, 10) == level && n.Min <= v && v <= n.Max
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
	// Echo, where given: the container's life by three commands.
	Echo *Echo
	// Serve, where given: the same with a server, which the host asks.
	Serve *Serve
	// Density and Load, where given: the trial is a whole protocol.
	Density     *Density
	Load        *Load
	LeastMemory *LeastMemory
}

// Exits are the exit statuses that the payload is asked for. One that ignores SIGTERM
// is killed by SIGKILL in the end, 128 + 9; one that has no handler too, where it is
// PID 1, and else by SIGTERM, 128 + 15.
func (i Instance) Exits() []int {
	switch {
	case i.Stop && i.Payload.OnTerm == "ignore":
		return []int{137}
	case i.Stop && i.Payload.OnTerm == "none":
		return []int{137, 143}
	}
	return []int{i.Payload.Exit}
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

// Catalogue lists every workload, in the order in which it is shown: by group,
// the built-in ones before those from files.
func Catalogue() []Workload {
	fromFiles, _ := files() // the broken ones are told by Broken
	all := append(builtIn(), fromFiles...)
	slices.SortStableFunc(all, func(a, b Workload) int {
		return slices.Index(groups, a.Group) - slices.Index(groups, b.Group)
	})
	return all
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
	for name, level := range params {
		levels, ok := w.Parameters[name]
		if !ok {
			return Instance{}, fmt.Errorf("workload %s has no parameter %q", w.Name, name)
		}
		if !w.Takes(name, level) {
			return Instance{}, fmt.Errorf("workload %s: parameter %s can't be %q (it can be %s)", w.Name, name, level, strings.Join(levels, ", "))
		}
	}
	chosen := w.chosen(params)
	switch {
	case w.file != nil:
		p, err := w.file.plan(chosen)
		if err != nil {
			return Instance{}, fmt.Errorf("workload %s: %w", w.Name, err)
		}
		return Instance{Plan: p}, nil
	case w.protocol != nil:
		return w.protocol(chosen), nil
	case w.pull:
		return Instance{Pull: &Pull{Image: chosen["image"], Cache: chosen["cache"]}}, nil
	}
	return Instance{Payload: w.payload(chosen), Stop: w.grace > 0, Grace: w.grace, Exec: w.exec}, nil
}

// Executes says whether it is one more process in a container that runs.
func (w Workload) Executes() bool { return w.exec }

// Takes says whether a parameter can have this level.
func (w Workload) Takes(parameter, level string) bool {
	n, ok := w.Numbers[parameter]
	return slices.Contains(w.Parameters[parameter], level) || ok && n.Has(level)
}

// NeedsOf are the needs with these levels.
func (w Workload) NeedsOf(params map[string]string) Needs {
	n := w.Needs
	if w.file != nil {
		n.DiskBytes = w.file.room(w.chosen(params))
	}
	n.Detached = n.Detached || w.Detached || byCommands(w.chosen(params))
	return n
}

// MetricsOf are the metrics that the workload has with these levels.
func (w Workload) MetricsOf(params map[string]string) []record.Metric {
	i, err := w.Instance(params)
	if err != nil || i.Plan == nil {
		return w.Metrics
	}
	var out []record.Metric
	for _, x := range i.Plan.Metrics {
		out = append(out, x.Metric)
	}
	if i.Plan.ByCommands {
		out = append(out, commandMetrics...)
	}
	if i.Plan.Launch != nil {
		out = append(out, rankMetrics...)
	}
	return append(out, standard...)
}

// Of gives the workload of a run: from its recorded text where it came from a
// file of the user's, else from the catalogue.
func Of(w record.Workload) (Workload, error) {
	if w.Source != "" {
		return Read(w.File, []byte(w.Source))
	}
	return Find(w.Name)
}
