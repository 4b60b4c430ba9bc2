package advise

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"plimsoll/internal/understand/analyze/sample"
)

// Outcome is what the data carry.
type Outcome string

// The outcomes.
const (
	First      Outcome = "first"       // one environment, told apart from all others
	Tie        Outcome = "tie"         // several that cannot be told apart from the first
	CannotTell Outcome = "cannot-tell" // criteria or blocks are missing
	Nobody     Outcome = "nobody"      // none has what is required and data
)

// Verdict says who comes first, as far as that is known.
type Verdict struct {
	Outcome Outcome `json:"outcome"`
	// Leaders are the first and those that cannot be told apart from it, by
	// what is measured; also where criteria are missing.
	Leaders []string `json:"leaders"`
	// Practical: the scores of all leaders differ by less than matters.
	Practical bool `json:"practical,omitempty"`
	// Measured is the part of the weight that is measured.
	Measured float64 `json:"measured"`
	// Why says what is missing, Decide what would decide.
	Why    []string `json:"why,omitempty"`
	Decide []string `json:"decide,omitempty"`
}

// judge gives the verdict on a ranking.
func (a *Advice) judge() {
	v := &a.Verdict
	v.Leaders = []string{}
	total, measured := 0.0, 0.0
	for _, c := range a.Criteria {
		total += c.Weight
		if c.Missing == "" {
			measured += c.Weight
		} else if c.Weight > 0 {
			v.Why = append(v.Why, fmt.Sprintf("%s of %s is not known: %s", cmp.Or(c.Metric.Title, c.Metric.ID), c.Workload, c.Missing))
			v.Decide = add(v.Decide, c.Command)
		}
	}
	v.Measured = measured / total
	if len(a.Ranked) == 0 {
		a.nobody()
		return
	}
	v.Leaders = append(v.Leaders, a.Ranked[0].Env)
	v.Practical = true
	told, needed, never := true, 0, false
	for i := range a.Pairs {
		p := &a.Pairs[i]
		if p.A != a.Ranked[0].Env {
			continue
		}
		told = told && p.Holm != nil
		if p.Holm != nil && *p.Holm < alpha {
			continue
		}
		v.Leaders = append(v.Leaders, p.B)
		v.Practical = v.Practical && p.Ratio.Lo != nil && within(p.Ratio, a.Profile.Matters)
		needed, never = max(needed, p.BlocksNeeded), never || p.BlocksNeeded == 0
	}
	v.Practical = v.Practical && len(v.Leaders) > 1
	if !told {
		v.Why = append(v.Why, fmt.Sprintf("fewer than %d blocks carry no interval of a ratio", leastBlocks))
		v.Decide = add(v.Decide, a.again(20))
	}
	switch {
	case v.Measured < 1-1e-9 || !told:
		v.Outcome = CannotTell
	case len(v.Leaders) == 1:
		v.Outcome = First
	default:
		v.Outcome = Tie
		switch {
		case v.Practical:
		case never || needed > 1000:
			v.Decide = append(v.Decide, "as the estimates stand no practical number of blocks: choose by the arguments for and against each, or measure on a quieter machine")
		default:
			v.Decide = add(v.Decide, a.again(needed))
		}
	}
}

// nobody says why nobody is ranked.
func (a *Advice) nobody() {
	v := &a.Verdict
	v.Outcome = Nobody
	if n := len(a.Refused); n > 0 {
		v.Why = append(v.Why, fmt.Sprintf("%d environments lack what is required, or it is not known that they have it", n))
		if a.Features == nil {
			v.Decide = add(v.Decide, "plimsoll features -o DIR")
		}
	}
	if n := len(a.Apart); n > 0 {
		v.Why = append(v.Why, fmt.Sprintf("%d environments have no data for some criterion", n))
		var commands []string
		for _, x := range a.Apart {
			for _, l := range x.Lacks {
				commands = append(commands, l.Command)
			}
		}
		for _, c := range Together(commands) {
			v.Decide = add(v.Decide, c)
		}
	}
	if v.Measured == 0 {
		v.Outcome = CannotTell
	}
}

// again is the command that measures more blocks of the same.
func (a *Advice) again(blocks int) string {
	for _, r := range a.Runs {
		if r.Study != "" && r.Repeat != "" {
			command, _, _ := strings.Cut(r.Repeat, " --seed ")
			return fmt.Sprintf("%s --blocks %d", command, blocks)
		}
	}
	return ""
}

// within says whether an estimate's whole interval lies within ±delta of 1.
func within(e sample.Estimate, delta float64) bool {
	return *e.Hi <= 1+delta && *e.Lo >= 1/(1+delta)
}

// blocksNeeded scales the half-width that would tell two apart to blocks, by
// its falling with the square root of their number.
func blocksNeeded(center, half float64, n int) int {
	needed := math.Ceil(float64(n) * math.Pow(half/center, 2))
	if !(needed <= 10_000) {
		return 0
	}
	return max(int(needed), n+1)
}
