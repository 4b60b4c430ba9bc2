package catalogue

import (
	"maps"
	"slices"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/kata"
)

// Rule is a combination that can't be on any machine, whatever is installed:
// those for which all of When holds.
type Rule struct {
	// When gives the levels by factor, or the engines by "engine".
	When map[string][]string
	// Because is a sentence, Source the address where it is documented.
	Because, Source string
}

// Lack is what an engine can do and its adapter can't.
type Lack struct {
	Engines []string // empty: every engine that has the factor
	Factor  string
	Levels  []string
	Because string
}

// Rules gives what the engines say that they can't have, and then what no engine
// can. The first rule that forbids a combination is the one that is named.
func Rules() []Rule {
	var all []Rule
	engines := All()
	for _, e := range engines {
		info := e.Info()
		for _, r := range info.Rules {
			when := maps.Clone(r.When)
			if names, ok := when[engine.Runtime]; ok {
				when[engine.Runtime] = runtimes(engines, names)
			}
			// What engines have in common is one rule.
			if i := slices.IndexFunc(all, func(x Rule) bool { return x.Because == r.Because }); i >= 0 {
				all[i].When["engine"] = append(all[i].When["engine"], info.Name)
				continue
			}
			when["engine"] = []string{info.Name}
			all = append(all, Rule{when, r.Because, r.Source})
		}
	}
	for _, r := range kata.Rules {
		all = append(all, Rule(r))
	}
	return all
}

// runtimes puts the names in for the words that stand for many.
func runtimes(engines []engine.Engine, names []string) []string {
	var all []string
	for _, n := range names {
		if n != engine.OCIRuntimes && n != engine.OtherRuntimes {
			all = append(all, n)
			continue
		}
		for _, e := range engines {
			info := e.Info()
			if info.Simulated || info.OCI != (n == engine.OCIRuntimes) {
				continue
			}
			for _, l := range info.Levels[engine.Runtime] {
				if l != engine.DefaultLevel && !slices.Contains(all, l) {
					all = append(all, l)
				}
			}
		}
	}
	return all
}

// Lacks gives what the adapters do not have yet.
func Lacks() []Lack {
	var all []Lack
	for _, e := range All() {
		info := e.Info()
		for _, l := range info.Lacks {
			all = append(all, Lack{[]string{info.Name}, l.Factor, l.Levels, l.Because})
		}
	}
	for _, l := range kata.Lacks {
		all = append(all, Lack{nil, l.Factor, l.Levels, l.Because})
	}
	return all
}
