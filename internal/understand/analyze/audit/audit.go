// Package audit says on what terms environments really ran, and in what two of
// them differ beyond what their comparison is about.
package audit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/internal/record"
)

// Audit says on what terms the environments really ran: the live
// configuration as the engines say it, and the isolation as it was seen from
// inside. Whatever differs beyond what a comparison is about stands in Pairs.
type Audit struct {
	// Properties are all that is known of any environment: configuration
	// first, then isolation.
	Properties []Property `json:"properties"`
	// Environments has an entry for each environment, in the run's order.
	Environments []Environment `json:"environments"`
	// Pairs are the comparisons that are about one factor: of one engine, all
	// of them; of two engines, the two environments that are most alike. Pairs
	// with a baseline are left out: to differ is what a baseline is for.
	Pairs []Pair `json:"pairs"`
}

// Property is one thing that environments can have in common.
type Property struct {
	Key string `json:"key"`
	// Kind is "configuration" (what the engine says) or "isolation" (what was
	// seen from inside).
	Kind string `json:"kind"`
	// Values is the number of different values among the environments that
	// have one.
	Values int `json:"values"`
}

// The kinds of a property.
const (
	Configuration = "configuration"
	Isolation     = "isolation"
)

// Environment is what is known of one environment.
type Environment struct {
	Env    string `json:"env"`
	Engine string `json:"engine"`
	// Configuration holds the facts, Isolation what was seen from inside by
	// most of the trials; a property that is missing is not known.
	Configuration map[string]string `json:"configuration,omitempty"`
	Isolation     map[string]string `json:"isolation,omitempty"`
	// Views is the number of different views from inside over all trials.
	Views int `json:"views"`
	// Guest is true where the payload ran under a kernel of its own: what it
	// saw of namespaces, cgroups and mounts is then that kernel's.
	Guest bool `json:"guest,omitempty"`

	levels   map[string]string
	baseline bool
}

// Pair is one comparison.
type Pair struct {
	A string `json:"a"`
	B string `json:"b"`
	// Factors are what the two differ in by name. None: the same environment
	// twice.
	Factors []string `json:"factors"`
	// Beyond are the differences that no named factor brings with it: the
	// comparison is about these too. Implied are those that one does.
	Beyond  []Difference `json:"beyond,omitempty"`
	Implied []Difference `json:"implied,omitempty"`
}

// Difference is a property that two environments do not share. Of a property
// that is known of one only nothing is said.
type Difference struct {
	Key  string `json:"key"`
	Kind string `json:"kind"`
	A    string `json:"a"`
	B    string `json:"b"`
}

// Of makes the audit from the records alone. views counts, by environment of the
// run, the trials by what was seen from inside, which insides lists.
func Of(run *record.Run, views []map[string]int, insides []record.Inside) *Audit {
	byID := map[string]record.Inside{}
	for _, in := range insides {
		byID[in.ID] = in
	}
	host := run.Host.Kernel
	a := &Audit{Environments: []Environment{}, Properties: []Property{}, Pairs: []Pair{}}
	for i, e := range run.Environments {
		env := Environment{Env: e.ID, Engine: e.Engine, Views: different(views[i], byID), Configuration: map[string]string{}, levels: e.Levels, baseline: e.Baseline != ""}
		for k, v := range e.Facts {
			if !slices.Contains(passing, k) && v != "" {
				env.Configuration[firstName(k)] = v
			}
		}
		if in, ok := byID[most(views[i])]; ok {
			env.Isolation = isolation(in)
			env.Guest = host != "" && in.Kernel != "" && in.Kernel != host
		}
		if e.Clock != "" {
			if env.Isolation == nil {
				env.Isolation = map[string]string{}
			}
			env.Isolation["clock"] = string(e.Clock)
		}
		env.Guest = env.Guest || e.Clock == record.ClockForeign
		a.Environments = append(a.Environments, env)
	}
	a.properties()
	a.pairs()
	return a
}

// different counts the views that differ in a property; what else a payload
// reports, such as the names of the host's interfaces, may change at any time.
func different(views map[string]int, byID map[string]record.Inside) int {
	seen := map[string]bool{}
	for id := range views {
		in, ok := byID[id]
		if !ok {
			continue
		}
		// fmt prints a map in the order of its keys.
		seen[fmt.Sprint(isolation(in))] = true
	}
	return len(seen)
}

// most is the view that most trials had, the first by its id where several had
// as many.
func most(views map[string]int) string {
	best, n := "", 0
	for _, id := range slices.Sorted(maps.Keys(views)) {
		if views[id] > n {
			best, n = id, views[id]
		}
	}
	return best
}

// passing are facts that say nothing of the terms: they change from run to run.
var passing = []string{"pid", "image-id"}

// firstName gives a fact that has two names the first one.
func firstName(key string) string {
	if key == "log-driver" {
		return "log"
	}
	return key
}

func (a *Audit) properties() {
	add := func(kind string, of func(*Environment) map[string]string) {
		values := map[string]map[string]bool{}
		for i := range a.Environments {
			for k, v := range of(&a.Environments[i]) {
				if values[k] == nil {
					values[k] = map[string]bool{}
				}
				values[k][Canonical(k, v)] = true
			}
		}
		for _, k := range InOrder(values) {
			a.Properties = append(a.Properties, Property{Key: k, Kind: kind, Values: len(values[k])})
		}
	}
	add(Configuration, func(e *Environment) map[string]string { return e.Configuration })
	add(Isolation, func(e *Environment) map[string]string { return e.Isolation })
}

// InOrder sorts keys: those that every engine is asked for first, in the order
// of the list, then the others by name.
func InOrder[V any](m map[string]V) []string {
	keys := slices.Sorted(maps.Keys(m))
	slices.SortStableFunc(keys, func(a, b string) int { return rankOf(a) - rankOf(b) })
	return keys
}

func rankOf(key string) int {
	if i := slices.Index(common, key); i >= 0 {
		return i
	}
	if i := slices.Index(isolationOrder, key); i >= 0 {
		return len(common) + i
	}
	return len(common) + len(isolationOrder)
}

// Environment finds an environment, or nil.
func (a *Audit) Environment(id string) *Environment {
	for i := range a.Environments {
		if a.Environments[i].Env == id {
			return &a.Environments[i]
		}
	}
	return nil
}

// Canonical makes two names of one thing the same.
func Canonical(key, value string) string {
	switch {
	case key == "storage" && (value == "overlay2" || value == "overlayfs"):
		return "overlay"
	case key == "cgroup" && value == "hybrid":
		return "v1" // whose controllers it has
	}
	return strings.TrimSpace(value)
}
