package study

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/internal/record"
)

// By convention, the parameter that says where a workload's files lie, and its
// level for a volume of the engine's own.
const (
	filesParameter = "files"
	inVolume       = "volume"
)

// A verdict says why something does not run; the zero verdict lets it run.
type verdict struct {
	kind, reason, source, fix string
}

func (v verdict) of(x record.Excluded) record.Excluded {
	x.Kind, x.Reason, x.Source, x.Fix = v.kind, v.reason, v.source, v.fix
	return x
}

// A judge decides which combinations run. The rules come first, since they
// name their source; then what the engine has not; then this machine.
type judge struct {
	cat   *Catalogue
	rules []*rule
	// byEngine are the rules that can concern an engine, found once: a plan
	// asks for them a hundred thousand times.
	byEngine map[*EngineInfo]*concerned
	usables  func(engine string, levels map[string]string) (bool, string, string)
}

// concerned are the rules on an engine's environments, and those on one with
// some workload.
type concerned struct{ alone, with []*rule }

// A rule with its factors by number.
type rule struct {
	Rule
	factors []factorIs
	own     bool // the study's
	used    bool
}

type factorIs struct {
	factor int
	levels []string
}

func newJudge(s *Study, cat *Catalogue, usable func(string, map[string]string) (bool, string, string)) *judge {
	j := &judge{cat: cat, usables: usable, byEngine: map[*EngineInfo]*concerned{}}
	add := func(r Rule, own bool) {
		out := rule{Rule: r, own: own}
		for _, k := range slices.Sorted(maps.Keys(r.When)) {
			if i := slices.Index(cat.Factors, k); i >= 0 {
				out.factors = append(out.factors, factorIs{i, r.When[k]})
			}
		}
		j.rules = append(j.rules, &out)
	}
	// The study's own first: its reason is the one that its author wrote.
	for _, r := range s.Exclude {
		add(r, true)
	}
	for _, r := range cat.Rules {
		add(r, false)
	}
	for i := range cat.Engines {
		e := &cat.Engines[i]
		c := &concerned{}
		for _, r := range j.rules {
			if names, ok := r.When[whenEngine]; ok && !slices.Contains(names, e.Name) {
				continue
			}
			if _, ok := r.When[whenWorkload]; ok {
				c.with = append(c.with, r)
			} else {
				c.alone = append(c.alone, r)
			}
		}
		j.byEngine[e] = c
	}
	return j
}

// environment judges by what holds on every machine, and by what the adapter
// has.
func (j *judge) environment(c *combination) verdict {
	for _, r := range j.byEngine[c.engine.EngineInfo].alone {
		if r.matches(c) {
			return r.verdict()
		}
	}
	for i, level := range c.named {
		known := c.engine.known[i]
		if level == "" || c.engine.knows(j.cat.Factors[i], level) {
			continue
		}
		f := j.cat.Factors[i]
		if l := j.lack(c.engine.Name, f, level); l != nil {
			return verdict{kind: Unavailable, reason: l.Because}
		}
		if len(known) == 0 {
			return verdict{kind: Impossible, reason: fmt.Sprintf("%s has no choice of %s.", c.engine.Name, f)}
		}
		return verdict{kind: Impossible, reason: fmt.Sprintf("%s has no %s %s (it has %s).", c.engine.Name, f, level, strings.Join(known, ", "))}
	}
	return verdict{}
}

func (j *judge) lack(engine, factor, level string) *Lack {
	for i := range j.cat.Lacks {
		l := &j.cat.Lacks[i]
		if l.Factor != factor || !slices.Contains(l.Levels, level) {
			continue
		}
		if slices.Contains(l.Engines, engine) || len(l.Engines) == 0 && len(j.cat.engine(engine).Levels[factor]) > 0 {
			return l
		}
	}
	return nil
}

// cell judges a workload in an environment that runs.
func (j *judge) cell(c *combination, w *WorkloadInfo, params map[string]string) verdict {
	impossible := func(format string, a ...any) verdict {
		return verdict{kind: Impossible, reason: fmt.Sprintf(format, a...)}
	}
	needs := w.needs(params)
	if needs.Detached && !c.engine.Detached {
		return impossible("%s needs an engine that keeps containers running by itself, and %s does not.", w.Name, c.engine.Name)
	}
	if i := slices.Index(j.cat.Factors, "network"); needs.Network && i >= 0 && c.level(i) == "none" {
		return impossible("%s needs a network between its containers, and network none has none.", w.Name)
	}
	if i := slices.Index(j.cat.Factors, "rootless"); needs.Root && i >= 0 && c.level(i) == "yes" {
		return impossible("%s needs containers of root, and these are rootless.", w.Name)
	}
	if params[filesParameter] == inVolume && c.engine.Baseline {
		return impossible("%s has no volumes: it is not an engine.", c.engine.Name)
	}
	if w.NeedsFiles && c.engine.Bare {
		return impossible("it needs a directory to work in, and %s mounts nothing.", c.engine.Name)
	}
	if w.NeedsStore && c.engine.Baseline {
		return verdict{kind: Impossible, reason: fmt.Sprintf("%s needs an engine with an image store, and %s is a baseline.", w.Name, c.engine.Name)}
	}
	for _, r := range j.byEngine[c.engine.EngineInfo].with {
		if slices.Contains(r.When[whenWorkload], w.Name) && r.matches(c) {
			return r.verdict()
		}
	}
	return verdict{}
}

func (r *rule) verdict() verdict {
	r.used = true
	return verdict{kind: Impossible, reason: r.Because, source: r.Source}
}

// matches says whether the levels are the rule's; engine and workload are
// looked at by the caller.
func (r *rule) matches(c *combination) bool {
	for _, f := range r.factors {
		named := cmp.Or(c.named[f.factor], defaultLevel)
		if !slices.Contains(f.levels, named) && !slices.Contains(f.levels, c.level(f.factor)) && !f.part(named) {
			return false
		}
	}
	return true
}

// part says whether a level is made of several, among which are all those of which
// the rule's is made.
func (f factorIs) part(level string) bool {
	had := strings.Split(level, joint)
	return slices.ContainsFunc(f.levels, func(l string) bool {
		return !slices.ContainsFunc(strings.Split(l, joint), func(p string) bool { return !slices.Contains(had, p) })
	})
}

// usable judges by this machine.
func (j *judge) usable(c *combination, levels map[string]string) verdict {
	if j.usables == nil {
		return verdict{}
	}
	ok, reason, fix := j.usables(c.engine.Name, levels)
	if ok {
		return verdict{}
	}
	reason = cmp.Or(reason, "It is not available here, and the adapter does not say why.")
	return verdict{kind: Unavailable, reason: reason, fix: fix}
}

// unused are the study's own rules that forbade nothing: probably a slip.
func (j *judge) unused() []Rule {
	var out []Rule
	for _, r := range j.rules {
		if r.own && !r.used {
			out = append(out, r.Rule)
		}
	}
	return out
}

// describe writes a rule's condition in the order of the catalogue.
func describe(when map[string][]string, cat *Catalogue) string {
	var parts []string
	for _, k := range append([]string{whenEngine, whenWorkload}, cat.Factors...) {
		if levels := when[k]; len(levels) > 0 {
			parts = append(parts, k+" "+strings.Join(levels, " or "))
		}
	}
	return strings.Join(parts, ", ")
}
