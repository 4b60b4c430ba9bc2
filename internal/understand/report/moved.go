package report

import (
	"fmt"
	"math"
	"strings"

	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/words"
)

const movedLegend = "By how much longer or shorter NEW takes, as BASE's median times the change of the ratio, with its 95 % interval; then each step of it, in the order of time. ✓ marks a step that has surely changed."

// movedLines say of each duration that changed which of its steps did.
func movedLines(c *compare.Changes) (out []string) {
	for i := range c.Moved {
		m := &c.Moved[i]
		unit := m.Metric.Unit
		name := words.Clean(m.Env)
		if m.NewEnv != "" {
			name += " → " + words.Clean(m.NewEnv)
		}
		s := fmt.Sprintf("%s of %s in %s: %s.", words.Clean(m.Metric.ID), words.Clean(c.Work(m.Workload)), name, moreOrLess(m.By, unit))
		for k := range m.Steps {
			s += " " + partText(&m.Steps[k], unit)
			if k+1 < len(m.Steps) {
				s += ","
			} else {
				s += "."
			}
		}
		if len(m.Mechanisms) > 0 {
			var parts []string
			for k := range m.Mechanisms {
				parts = append(parts, partText(&m.Mechanisms[k], unit))
			}
			s += " By what was taken away: " + strings.Join(parts, ", ") + "."
		}
		out = append(out, s)
	}
	return out
}

func moreOrLess(e sample.Estimate, unit string) string {
	by := words.UnitFor(unit, []float64{math.Abs(e.Value)})
	n := words.NumberOf(e, by.By, 2)
	if e.Value < 0 {
		less := sample.Estimate{Value: -e.Value}
		if e.Lo != nil {
			less.Lo, less.Hi = new(-*e.Hi), new(-*e.Lo)
		}
		n = words.NumberOf(less, by.By, 2)
		return strings.TrimSpace(n.Value+" "+n.Interval) + " " + by.Name + " less"
	}
	return strings.TrimSpace(n.Value+" "+n.Interval) + " " + by.Name + " more"
}

func partText(p *compare.Part, unit string) string {
	s := words.Clean(p.Name) + " " + moreOrLess(p.By, unit)
	if p.Beyond {
		s += " ✓"
	}
	return s
}

// mostOf says which step of a cell changed the most, of those that surely did.
func mostOf(c *compare.Changes, ch *compare.Change) string {
	for i := range c.Moved {
		m := &c.Moved[i]
		if m.Workload != ch.Workload || m.Env != ch.Env || m.NewEnv != ch.NewEnv || m.Metric.ID != ch.Metric.ID {
			continue
		}
		most := compare.Most(m.Steps, m.By.Value)
		if most != nil {
			return fmt.Sprintf("of %s, %s is %s", moreOrLess(sample.Estimate{Value: m.By.Value}, m.Metric.Unit), words.Clean(most.Name), moreOrLess(sample.Estimate{Value: most.By.Value}, m.Metric.Unit))
		}
	}
	return ""
}
