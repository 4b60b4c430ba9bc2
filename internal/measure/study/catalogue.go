package study

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/record"
)

// defaultLevel stands for "as the engine does when not told".
const defaultLevel = "default"

// Catalogue is what a study can choose from.
type Catalogue struct {
	Engines []EngineInfo
	// Factors are the names of all factors, in the order in which ids and
	// tables show them.
	Factors   []string
	Workloads []WorkloadInfo
	// Rules are the combinations that are known to be impossible everywhere.
	Rules []Rule
	// Sampled are the metrics that any workload has where the machine is sampled.
	Sampled []record.Metric
	// Lacks are levels that engines have and their adapters do not.
	Lacks []Lack
	// Read reads a workload's file; nil refuses files. Its error is an *Errors.
	Read func(path string, data []byte) (WorkloadInfo, error)
}

// Lack is what an engine could do and its adapter here cannot: a study may
// name it, and it is unavailable, not impossible. A lack of a level that the
// adapter has by now means nothing.
type Lack struct {
	Engines []string // empty: every engine that has the factor
	Factor  string
	Levels  []string
	// Because is the sentence that says what is missing.
	Because string
}

// EngineInfo is what a study must know of an engine.
type EngineInfo struct {
	Name string
	// Baseline is true for native, floor and host.
	Baseline bool
	// Simulated is true for the fake engine: its times were not measured, and
	// no baseline that was is set beside them.
	Simulated bool
	// Levels are the levels of each factor, the engine's default first; a
	// factor that is missing can't be varied.
	Levels map[string][]string
	// Unverified is true where the adapter was never run against the real engine.
	Unverified bool
	// Untried are the levels of each factor that were never run on the real system.
	Untried map[string][]string
	// Detached is true where containers run without a process of ours, so
	// that the engine can be asked to stop them.
	Detached bool
	// Bare is true where nothing can be mounted into a container.
	Bare bool
	// Mechanisms are what it does at a start and can be taken away, from the outside
	// in, and Below is the engine that it calls, if any.
	Mechanisms []Mechanism
	Below      string
}

// WorkloadInfo is what a study must know of a workload.
type WorkloadInfo struct {
	// NeedsFiles is true where it has a working directory of its own.
	NeedsFiles bool

	Name  string
	Title string
	// Parameters are the levels of each parameter, the default first.
	Parameters map[string][]string
	// NeedsDetached is true where the engine must be able to stop a container.
	NeedsDetached bool
	// NeedsStore is true where the engine must have an image store, which no
	// baseline has.
	NeedsStore bool
	// Metrics are those that the workload itself reports.
	Metrics []record.Metric
	// Numbers are the parameters that take any other whole number of a range too.
	Numbers map[string]Numbers
	// Small are the levels of a small trial; the other parameters have their default.
	Small map[string]string
	// Needs and MetricsOf, where given, are for one choice of all parameters.
	Needs     func(params map[string]string) Needs
	MetricsOf func(params map[string]string) []record.Metric
	// Source is the text of the file of a workload that is not the catalogue's.
	Source string
	// Commands are the programs that it runs, each with its arguments on one line.
	Commands []string

	path string
}

// Numbers is a range of whole numbers, both ends included.
type Numbers struct{ Min, Max int64 }

// Needs are what a workload needs of an environment.
type Needs struct {
	Network  bool // its containers must reach each other
	Detached bool // the engine must hold containers by itself
	Root     bool // the containers must be run by root
}

// takes says whether a parameter can have this level.
func (w *WorkloadInfo) takes(parameter, level string) bool {
	if slices.Contains(w.Parameters[parameter], level) {
		return true
	}
	r, ok := w.Numbers[parameter]
	n, err := strconv.ParseInt(level, 10, 64)
	return ok && err == nil && strconv.FormatInt(n, 10) == level && r.Min <= n && n <= r.Max
}

// describe says which levels a parameter can have.
func (w *WorkloadInfo) describe(parameter string) string {
	out := yamlfile.OneOf(w.Parameters[parameter])
	if r, ok := w.Numbers[parameter]; ok {
		out += fmt.Sprintf(", or a whole number from %d to %d", r.Min, r.Max)
	}
	return out
}

func (w *WorkloadInfo) needs(params map[string]string) Needs {
	if w.Needs != nil {
		return w.Needs(params)
	}
	return Needs{Detached: w.NeedsDetached}
}

func (w *WorkloadInfo) metrics(params map[string]string) []record.Metric {
	if w.MetricsOf != nil {
		return w.MetricsOf(params)
	}
	return w.Metrics
}

// Rule forbids the combinations for which all of When holds.
type Rule struct {
	// When gives, by factor or by "engine" or "workload", the levels that are
	// meant. An unnamed level counts as the engine's default.
	When map[string][]string
	// Because is the sentence that says why, Source a URL, where there is one.
	Because, Source string
}

// The keys of a rule beside the factors.
const (
	whenEngine   = "engine"
	whenWorkload = "workload"
)

func (c *Catalogue) engine(name string) *EngineInfo {
	for i := range c.Engines {
		if c.Engines[i].Name == name {
			return &c.Engines[i]
		}
	}
	return nil
}

// with gives the catalogue with the workloads of a study's own files.
func (c *Catalogue) with(own []WorkloadInfo) *Catalogue {
	if len(own) == 0 {
		return c
	}
	out := *c
	out.Workloads = append(slices.Clip(c.Workloads), own...)
	return &out
}

func (c *Catalogue) workload(name string) *WorkloadInfo {
	for i := range c.Workloads {
		if c.Workloads[i].Name == name {
			return &c.Workloads[i]
		}
	}
	return nil
}

func (c *Catalogue) engineNames() []string {
	names := make([]string, len(c.Engines))
	for i, e := range c.Engines {
		names[i] = e.Name
	}
	return names
}

func (c *Catalogue) workloadNames() []string {
	names := make([]string, len(c.Workloads))
	for i, w := range c.Workloads {
		names[i] = w.Name
	}
	return names
}

func (c *Catalogue) baselines() []string {
	names := []string{}
	for _, e := range c.Engines {
		if e.Baseline {
			names = append(names, e.Name)
		}
	}
	return names
}

// levels gives every level of a factor that one of the engines knows, those
// of the named engines first.
func (c *Catalogue) levels(factor string, first ...string) []string {
	var all []string
	add := func(list []string) {
		for _, l := range list {
			if !slices.Contains(all, l) {
				all = append(all, l)
			}
		}
	}
	for _, name := range first {
		if e := c.engine(name); e != nil {
			add(e.Levels[factor])
		}
	}
	for _, e := range c.Engines {
		add(e.Levels[factor])
	}
	for _, l := range c.Lacks {
		if l.Factor == factor {
			add(l.Levels)
		}
	}
	for _, r := range c.Rules {
		add(r.When[factor]) // a word of the field, even where nobody here has it
	}
	add([]string{defaultLevel})
	return all
}

// metrics gives the ids of all metrics: those of the life cycle and those of
// the workloads.
func (c *Catalogue) metrics() []string {
	var ids []string
	for _, m := range record.LifeCycle {
		ids = append(ids, m.ID)
	}
	for _, w := range c.Workloads {
		for _, m := range w.Metrics {
			if !slices.Contains(ids, m.ID) {
				ids = append(ids, m.ID)
			}
		}
	}
	return ids
}

// resolve gives the level that is in force: the engine's default where none
// was named.
func (e *EngineInfo) resolve(factor, level string) string {
	if level != "" && level != defaultLevel {
		return level
	}
	if known := e.Levels[factor]; len(known) > 0 {
		return known[0]
	}
	return defaultLevel
}

// imageFactor is the one factor whose levels are not all listed: an image can
// be named by its reference to a registry.
const imageFactor = "image"

// isReference tells a reference from the name of a level.
func isReference(level string) bool { return strings.ContainsAny(level, "/:@") }

// boundFactors are those whose levels the study makes up, which whoever runs it binds
// to what they stand for on the machine, and what to say of a level that is no name.
var boundFactors = map[string]string{
	"image-on": "a name of your own for a file system, such as scratch: small letters, digits and -; --image-on NAME=DIR says which directory it is",
	"build":    "a name of your own for a build, such as old or 1.8: small letters, digits, - and dots between them; --build PROGRAM:NAME=PATH says which file it is",
}

var (
	placeName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)
	buildName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*(\.[a-z0-9-]+)*$`)
)

// bound says whether a level of one of boundFactors is a name.
func bound(factor, level string) bool {
	if factor == "build" {
		return len(level) <= 32 && buildName.MatchString(level)
	}
	return placeName.MatchString(level)
}

// knows says whether the adapter has this level; the default is always had,
// and with it any image by reference where the adapter takes images at all.
func (e *EngineInfo) knows(factor, level string) bool {
	if slices.Contains(joinedFactors, factor) {
		return !slices.ContainsFunc(parts(factor, level), func(p string) bool { return !slices.Contains(e.Levels[factor], p) })
	}
	return level == defaultLevel || slices.Contains(e.Levels[factor], level) ||
		boundFactors[factor] != "" && bound(factor, level) && len(e.Levels[factor]) > 0 ||
		factor == imageFactor && isReference(level) && len(e.Levels[factor]) > 0 ||
		limitLevels[factor] != "" && isLimit(factor, level) && len(e.Levels[factor]) > 0
}
