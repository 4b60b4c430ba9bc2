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
	p := &s.run.Protocol
	of := 0 // of the fixed blocks; 0 is all
	if len(s.run.Study.Parts) > 0 {
		most := 0
		for _, part := range s.run.Study.Parts {
			if slices.Contains(part.Environments, env) && slices.Contains(part.Workloads, workload) {
				most = max(most, int(analyze.Positive(float64(part.Blocks), float64(p.Fixed()))))
			}
		}
		of = most
	}
	further := slices.Contains(s.run.Study.Further, record.CellID{Env: env, Workload: workload})
	for _, l := range s.run.Looks {
		if l.Ended {
			return p.Taken(of, l.Blocks, further)
		}
		for _, c := range l.Cells {
			if c.Left && c.Env == env && c.Workload == workload {
				return p.Taken(of, l.Blocks, further)
			}
		}
	}
	return p.Taken(of, p.Blocks, further)
}

// lookText says who left and why a run ended; "" for a look that changed
// nothing.
func lookText(l record.Look) string {
	if l.Rule == record.RuleClaims {
		return claimsText(l)
	}
	if l.Ended {
		return fmt.Sprintf("the run ended after %s: %s", count(l.Blocks, "block"), l.Why)
	}
	var who analyze.Grouped[string, string]
	for _, c := range l.Cells {
		if c.Left {
			who.Add(c.Workload, c.Env)
		}
	}
	if who.Len() == 0 {
		return ""
	}
	var parts []string
	for work, envs := range who.All() {
		parts = append(parts, strings.Join(envs, ", ")+" with "+work)
	}
	return fmt.Sprintf("left after %s, their question answered, so their n is smaller by design: %s", count(l.Blocks, "block"), strings.Join(parts, "; "))
}

// claimsText says how many of the claims were decided, and for which the run went
// on.
func claimsText(l record.Look) string {
	if l.Ended && l.Asked == 0 {
		return fmt.Sprintf("ended after %s: %s", count(l.Blocks, "block"), l.Why)
	}
	text := fmt.Sprintf("after %s %d of %s were decided", count(l.Blocks, "block"), l.Settled, count(l.Asked, "claim"))
	var open []string
	for _, c := range l.Claims {
		if c.Open {
			open = append(open, c.ID)
		}
	}
	if l.Ended {
		return text + ", and the run ended: " + l.Why
	}
	return text + fmt.Sprintf("; further blocks, in which n differs by design, were for %s", strings.Join(open, ", "))
}
