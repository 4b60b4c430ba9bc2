package report

import (
	"slices"
	"strings"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/audit"
	"plimsoll/internal/understand/verdict"
	"plimsoll/internal/understand/words"
)

// Isolation is a price that some do not pay: what each goes without of what a docker run
// isolates stands in its row, since the fastest is often the one that isolates least.

// lackMark stands in the row of what lacks some of it.
const lackMark = "*"

// noContainer stands in the column of a baseline, of which nothing is expected: an empty
// one would say that it lacks nothing.
const noContainer = "n/a"

// partsLacking are those of an environment, false where nobody saw.
func (s *screen) partsLacking(env string) ([]audit.Part, bool) {
	if s.res.Audit == nil {
		return nil, false
	}
	return s.res.Audit.Environment(env).Lacks()
}

// lacks are their words, "?" where nobody saw, "" of a baseline.
func (s *screen) lacks(env string) string {
	parts, known := s.partsLacking(env)
	if e := s.res.Environment(env); !known && (e == nil || e.Baseline == "") {
		return "?"
	}
	return audit.Listed(parts)
}

// lacksSome says whether an environment is known to lack some of it.
func (s *screen) lacksSome(env string) bool {
	parts, _ := s.partsLacking(env)
	return len(parts) > 0
}

// lacksAny says whether the column has something to say.
func (s *screen) lacksAny(r *ranking) bool {
	return slices.ContainsFunc(r.cells(), func(c *analyze.Cell) bool { return s.lacksSome(c.Env) })
}

// lacksLegend says what the mark or the column stands for.
func (s *screen) lacksLegend(form lackForm) string {
	if form == marked {
		return lackMark + ": isolates less (" + s.audit + ")"
	}
	return "lacks: parts of docker run's isolation"
}

// unsaidBeyond are the properties in which the first two differ beyond their names, but
// for what is said of their isolation already.
func (s *screen) unsaidBeyond(a *verdict.Answer) []string {
	if s.lessIsolated(a) == "" {
		return a.Also
	}
	said := map[string]bool{}
	for _, env := range []string{a.First[0], a.Next} {
		parts, _ := s.partsLacking(env)
		for _, p := range parts {
			said[p.Key] = true
		}
	}
	said["network"] = said["ns.net"]
	return slices.DeleteFunc(slices.Clone(a.Also), func(k string) bool { return said[k] })
}

// lessIsolated is the doubt about the first ones that lack what others have; "" where
// none does.
func (s *screen) lessIsolated(a *verdict.Answer) string {
	for i, env := range a.First {
		var lacking []string
		parts, _ := s.partsLacking(env)
		for _, p := range parts {
			if slices.ContainsFunc(a.All, func(other string) bool {
				has, known := s.partsLacking(other)
				return known && !slices.Contains(has, p)
			}) {
				lacking = append(lacking, p.Title)
			}
		}
		if len(lacking) == 0 {
			continue
		}
		who := s.engine(env)
		if i == 0 {
			who = "the first"
		}
		who += " isolates less: "
		switch s.lacking {
		case inWords:
			return who + "see lacks (" + s.audit + ")"
		case marked:
			return who + "see " + lackMark
		}
		return who + goesWithout(lacking)
	}
	return ""
}

// leastIsolated is the doubt about several workloads: whose best environments lack what
// others have.
func (s *screen) leastIsolated() string {
	var who []string
	for i := range s.answers {
		a := s.answers[i]
		if a.First = a.All[:1]; s.lessIsolated(&a) == "" {
			continue
		}
		who = analyze.Also(who, s.engine(a.All[0]))
	}
	if len(who) == 0 {
		return ""
	}
	return "best, and isolate less: " + words.FirstFew(who) + " (" + s.audit + ")"
}

// goesWithout is what something has not of its own, as a sentence says it.
func goesWithout(titles []string) string {
	var spaces, parts []string
	for _, t := range titles {
		switch t {
		case "seccomp filter", "capability limits", "access control":
			parts = append(parts, "has no "+t)
		default:
			spaces = append(spaces, t)
		}
	}
	if len(spaces) > 0 {
		parts = slices.Concat([]string{"it shares the host's " + words.List(spaces)}, parts)
	} else {
		parts[0] = "it " + parts[0]
	}
	return strings.Join(parts, ", ")
}
