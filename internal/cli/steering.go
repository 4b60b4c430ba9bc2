//go:build linux

package cli

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/measure/run"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/findings"
	"plimsoll/internal/understand/analyze/gate"
	"plimsoll/internal/understand/analyze/sequential"
	"plimsoll/internal/understand/words"
)

// steering decides on the run r in dir by what is in its record so far. g is nil
// where nothing gates it.
func steering(dir string, r *record.Run, g *gating) run.Steering {
	p := r.Protocol
	s := run.Steering{Pair: ofPair(g, r), Say: sayLook, Foresee: func(blocks int) string { return foresee(dir, min(blocks, p.Fixed())) }}
	switch {
	case g != nil:
		s.Within = func(blocks int) ([]int, []float64) {
			at := gate.Within(blocks)
			return at, gate.Shares(at)
		}
		s.Foresee = func(blocks int) string { return g.foresee(dir, blocks) }
		s.At = g.at
		s.Look = func(_ int, why string) (record.Look, error) { return g.look(dir, why) }
	case len(p.ClaimLooks) > 0:
		s.At = func(blocks int) bool { return slices.Contains(p.ClaimLooks, blocks) }
		s.Look = func(blocks int, why string) (record.Look, error) {
			res, err := readResult(dir)
			if err != nil {
				return record.Look{}, err
			}
			return endedBy(findings.Look(res, blocks), why), nil
		}
	case p.Until > 0:
		s.At = sequential.LooksAt
		s.Look = func(_ int, why string) (record.Look, error) {
			res, err := readResult(dir)
			if err != nil {
				return record.Look{}, err
			}
			return endedBy(sequential.Until(res, p.Until), why), nil
		}
	}
	return s
}

// endedBy ends a look for a reason that is none of its own.
func endedBy(l record.Look, why string) record.Look {
	if why != "" && !l.Ended {
		l.Ended, l.Why = true, why
	}
	return l
}

// foresee is a remark on the way: where it can't be made, it is left out.
func foresee(dir string, blocks int) string {
	r, err := record.Open(dir)
	if err != nil {
		return ""
	}
	o, err := sequential.Foresee(r, blocks)
	if err != nil || o == nil {
		return ""
	}
	return o.String()
}

// sayClaims says how many claims are decided, which are not, and which are given
// up.
func sayClaims(l record.Look) string {
	if l.Asked == 0 { // and so the run ends, whose reason is said behind this
		return ""
	}
	text := fmt.Sprintf(": %d of %d claims decided", l.Settled, l.Asked)
	var open, up []string
	for _, c := range l.Claims {
		if c.Open {
			open = append(open, c.ID)
		} else {
			up = append(up, fmt.Sprintf("%s (%s)", c.ID, c.Why))
		}
	}
	if len(open) > 0 {
		text += "; open: " + strings.Join(open, ", ")
	}
	if len(up) > 0 {
		text += "; more blocks would not decide " + strings.Join(up, ", ")
	}
	return text
}

// sayLook says what a look found.
func sayLook(l record.Look) string {
	text := fmt.Sprintf("looked after %d blocks", l.Blocks)
	if l.Rule == record.RuleClaims {
		text += sayClaims(l)
	} else if l.Rule != record.RuleTime {
		text += fmt.Sprintf(": %d of %d settled", l.Settled, l.Asked)
	}
	widest := record.LookCell{}
	for _, c := range l.Cells {
		if c.Left || c.HalfWidth == nil {
			continue
		}
		if widest.HalfWidth == nil || *c.HalfWidth > *widest.HalfWidth {
			widest = c
		}
	}
	if h := widest.HalfWidth; h != nil && !math.IsInf(*h, 0) {
		text += fmt.Sprintf("; the widest still open: %s of %s in %s, ± %s %%", widest.Metric, widest.Workload, widest.Env, words.TwoDigits(100**h))
	}
	if l.Ended {
		text += "; the run ends: " + l.Why
	}
	return text
}
