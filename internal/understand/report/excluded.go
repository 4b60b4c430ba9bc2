package report

import (
	"strings"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/words"
)

// excludedGroup is what could not run for one reason.
type excludedGroup struct{ names, reason, fix string }

// excludedOf gathers what could not run by the reason, in the order of the plan.
func excludedOf(res *analyze.Result) []excludedGroup {
	type key struct{ kind, reason, fix string }
	names := map[key][]string{}
	var order []key
	for _, x := range res.Excluded {
		k := key{words.Clean(x.Kind), words.Sentence(words.Clean(x.Reason)), words.Clean(x.Fix)}
		if names[k] == nil {
			order = append(order, k)
		}
		name := words.Clean(x.ID)
		if x.Workload != "" {
			name += " with " + words.Clean(x.Workload)
		}
		names[k] = append(names[k], name)
	}
	var out []excludedGroup
	for _, k := range order {
		out = append(out, excludedGroup{strings.Join(names[k], ", "), k.kind + ", " + k.reason, k.fix})
	}
	return out
}
