package audit

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/record"
)

// Keys are those of some differences, each once.
func Keys(ds []Difference) []string {
	var out []string
	for _, d := range ds {
		if !slices.Contains(out, d.Key) {
			out = append(out, d.Key)
		}
	}
	return out
}

// Remarks are one for each comparison inside an engine that is about more than
// its factor, one for all engines together, and one for what could not be seen.
func (a *Audit) Remarks() []record.Remark {
	var out []record.Remark
	var engines, keys []string
	for _, p := range a.Pairs {
		if len(p.Beyond) == 0 {
			continue
		}
		x, y := a.Environment(p.A), a.Environment(p.B)
		if x.Engine != y.Engine {
			for _, e := range []string{x.Engine, y.Engine} {
				if !slices.Contains(engines, e) {
					engines = append(engines, e)
				}
			}
			for _, k := range Keys(p.Beyond) {
				if strings.HasPrefix(k, "ns.") {
					k = "namespaces"
				}
				if !slices.Contains(keys, k) {
					keys = append(keys, k)
				}
			}
			continue
		}
		about := "the same environment twice, yet it differs in "
		if len(p.Factors) > 0 {
			about = "next to the factor " + p.Factors[0] + " it differs in "
		}
		out = append(out, record.Remark{Code: "unequal", Level: "warn", Env: p.A,
			Text:   fmt.Sprintf("against %s: %s%s", p.B, about, strings.Join(Describe(p.Beyond), "; ")),
			Advice: "their difference is of all of these together, not of the factor alone"})
	}
	if len(keys) > 0 {
		sortByRank(keys)
		out = append(out, record.Remark{Code: "unequal", Level: "info",
			Text:   fmt.Sprintf("the engines %s differ in more than the engine: in %s", strings.Join(engines, ", "), strings.Join(keys, ", ")),
			Advice: "the equivalence audit says who has what: plimsoll report DIR --audit"})
	}
	for _, e := range a.Environments {
		if e.Views > 1 {
			out = append(out, record.Remark{Code: "views", Level: "info", Env: e.Env,
				Text:   fmt.Sprintf("its containers saw %d different insides; the audit shows the one that most trials had", e.Views),
				Advice: "compare the entries of inside.jsonl"})
		}
	}
	return out
}

func sortByRank(keys []string) {
	slices.SortStableFunc(keys, func(x, y string) int { return rankOf(x) - rankOf(y) })
}
