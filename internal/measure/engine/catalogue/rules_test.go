package catalogue

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/measure/engine"
)

// A rule is a sentence with a source, and about factors that there are.
func TestRulesAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rules() {
		if !strings.HasSuffix(r.Because, ".") || seen[r.Because] {
			t.Errorf("%q is no sentence, or stands twice", r.Because)
		}
		seen[r.Because] = true
		if u, err := url.Parse(r.Source); err != nil || u.Scheme != "https" || u.Host == "" {
			t.Errorf("%q has the source %q", r.Because, r.Source)
		}
		if len(r.When) < 2 {
			t.Errorf("%q: one condition forbids a level altogether", r.Because)
		}
		for k, levels := range r.When {
			if k != "engine" && !slices.Contains(engine.Factors, k) || len(levels) == 0 {
				t.Errorf("%q has the condition %s %v", r.Because, k, levels)
			}
			if slices.Contains(levels, engine.DefaultLevel) {
				t.Errorf("%q forbids what an engine does by itself", r.Because)
			}
		}
	}
	for _, l := range Lacks() {
		if !slices.Contains(engine.Factors, l.Factor) || len(l.Levels) == 0 || !strings.HasSuffix(l.Because, ".") {
			t.Errorf("%+v", l)
		}
	}
}

// No rule forbids the first level of a factor, which is what an engine does
// when it is not told: such a rule would be wrong, or the adapter.
func TestRulesLeaveDefaults(t *testing.T) {
	for _, e := range All() {
		i := e.Info()
	rules:
		for _, r := range Rules() {
			if names := r.When["engine"]; len(names) > 0 && !slices.Contains(names, i.Name) {
				continue
			}
			for k, levels := range r.When {
				if k != "engine" && (len(i.Levels[k]) == 0 || !slices.Contains(levels, i.Levels[k][0])) {
					continue rules
				}
			}
			t.Errorf("%s as it is by default is impossible: %s", i.Name, r.Because)
		}
	}
}
