package house

import (
	"slices"
	"strings"
	"testing"
)

// analyzing lists the packages below internal/understand/analyze as storeys
// lists those of the house; "" is their core, the package analyze itself.
var analyzing = [][]string{
	{"figure"},
	{"gate", "analyzetest"},
	{"sequential", "history", "hosts", "releases"},
	{"evaluate", "compare", "factors"},
	{"findings", "papers"},
	{"", "derive"},
	{"ablation", "audit", "bisection", "density", "kernel", "load", "steady", "sweep"},
	{"sample"},
}

// floor is the storey of a package of analyze, counted from the top; -1 where it
// has none, and false where the package is no part of analyze.
func floor(path string) (n int, ok bool) {
	rest, ok := strings.CutPrefix(path+"/", in+understand+"/analyze/")
	if !ok {
		return 0, false
	}
	rest = strings.TrimSuffix(rest, "/")
	return slices.IndexFunc(analyzing, func(s []string) bool { return slices.Contains(s, rest) }), true
}

// analyzeViolation says which rule an import inside analyze breaks, or "".
func analyzeViolation(from, to string) string {
	a, ok := floor(from)
	b, both := floor(to)
	switch {
	case !both:
		return ""
	case strings.HasSuffix(to, "/analyzetest"):
		return "analyzetest is for tests"
	case !ok:
		return ""
	case a < 0 || b < 0:
		return "it has no storey: add it to the list"
	case a >= b:
		return "imports go downwards only"
	}
	return ""
}

func TestAnalyzeGoesDownwards(t *testing.T) {
	seen := 0
	for _, p := range packages(t) {
		if n, ok := floor(p.ImportPath); ok {
			seen++
			if n < 0 {
				t.Errorf("%s has no storey: add it to the list", p.ImportPath)
			}
		}
		for _, to := range p.Imports {
			if why := analyzeViolation(p.ImportPath, to); why != "" {
				t.Errorf("%s imports %s: %s", p.ImportPath, to, why)
			}
		}
	}
	if listed := len(slices.Concat(analyzing...)); seen != listed {
		t.Errorf("%d packages of analyze are listed, and there are %d", listed, seen)
	}
}

func TestAnalyzeRuleFails(t *testing.T) {
	core := in + understand + "/analyze"
	for _, c := range []struct{ from, to string }{
		{core, core + "/compare"},
		{core + "/sample", core},
		{core + "/compare", core + "/gate"},
		{core + "/findings", core + "/papers"},
		{core + "/newcomer", core},
		{in + "cli", core + "/analyzetest"},
	} {
		if analyzeViolation(c.from, c.to) == "" {
			t.Errorf("%s may import %s: the rule has a hole", c.from, c.to)
		}
	}
	for _, c := range []struct{ from, to string }{{core + "/gate", core + "/compare"}, {in + "cli", core + "/gate"}, {core, in + "record"}} {
		if why := analyzeViolation(c.from, c.to); why != "" {
			t.Errorf("%s may not import %s: %s", c.from, c.to, why)
		}
	}
}
