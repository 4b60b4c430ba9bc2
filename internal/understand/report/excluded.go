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
	var names analyze.Grouped[key, string]
	for _, x := range res.Excluded {
		name := words.Clean(x.ID)
		if x.Workload != "" {
			name += " with " + words.Clean(x.Workload)
		}
		names.Add(key{words.Clean(x.Kind), words.Sentence(words.Clean(x.Reason)), words.Clean(x.Fix)}, name)
	}
	var out []excludedGroup
	for k, all := range names.All() {
		out = append(out, excludedGroup{strings.Join(all, ", "), k.kind + ", " + k.reason, k.fix})
	}
	return out
}
