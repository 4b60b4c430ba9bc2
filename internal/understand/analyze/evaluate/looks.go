package evaluate

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
)

// wanted is how many counted blocks a cell was to take part in: those of its
// parts, as far as no look ended it before.
func (s *store) wanted(env, workload string) int {
	all := s.run.Protocol.Blocks
	if len(s.run.Study.Parts) > 0 {
		most := 0
		for _, p := range s.run.Study.Parts {
			if slices.Contains(p.Environments, env) && slices.Contains(p.Workloads, workload) {
				most = max(most, int(analyze.Positive(float64(p.Blocks), float64(all))))
			}
		}
		all = min(all, most)
	}
	for _, l := range s.run.Looks {
		if l.Ended {
			return min(l.Blocks, all)
		}
		for _, c := range l.Cells {
			if c.Left && c.Env == env && c.Workload == workload {
				return min(l.Blocks, all)
			}
		}
	}
	return all
}

// lookText says who left and why a run ended; "" for a look that changed
// nothing.
func lookText(l record.Look) string {
	if l.Ended {
		return fmt.Sprintf("the run ended after %s: %s", count(l.Blocks, "block"), l.Why)
	}
	var works []string
	who := map[string][]string{}
	for _, c := range l.Cells {
		if !c.Left {
			continue
		}
		if !slices.Contains(works, c.Workload) {
			works = append(works, c.Workload)
		}
		who[c.Workload] = append(who[c.Workload], c.Env)
	}
	if len(works) == 0 {
		return ""
	}
	var parts []string
	for _, w := range works {
		parts = append(parts, strings.Join(who[w], ", ")+" with "+w)
	}
	return fmt.Sprintf("left after %s, their question answered, so their n is smaller by design: %s", count(l.Blocks, "block"), strings.Join(parts, "; "))
}
