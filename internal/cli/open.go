//go:build linux

package cli

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/gate"
	"plimsoll/internal/understand/analyze/sequential"
	"plimsoll/internal/understand/words"
)

// open is what leaves the number of blocks open.
type open struct {
	until  string
	budget time.Duration
	most   int
	gated  bool
	// within is a gate's --budget, which chooses its blocks and looks.
	within time.Duration
}

func (o *open) add(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&o.until, "until", "", "run until each ratio is known to within this half-width, such as 2%: checked after 10, 20, 40 … blocks, when environments that are known well enough drop out; or claims: after the study's blocks, measure further ones for the claims that are not decided")
	fl.DurationVar(&o.budget, "time-budget", 0, "run as many whole blocks as fit into this time, such as 10m, including the time to open the environments")
	fl.IntVar(&o.most, "max-blocks", 0, fmt.Sprintf("with --until or --time-budget: at most this many blocks (default: the study's, else %d; with --until claims %d times the study's blocks)", study.DefaultMaxBlocks, study.ClaimRounds))
	for flag, words := range map[string][]string{"until": {"1%", "2%", "5%", "10%", study.UntilClaims}, "time-budget": {"1m", "10m", "1h"}} {
		completes(c, flag, completeWords(words...))
	}
}

// mostInBudget bounds the blocks of a gate with a budget: even the fastest
// runtimes start no more in an hour.
const mostInBudget = 50_000

// number puts the number of blocks into a study, or what leaves it open.
func (c *changes) number(st *study.Study) error {
	claims, until := c.until == study.UntilClaims, 0.0
	if !claims {
		var err error
		if until, err = percentage("until", c.until); err != nil {
			return err
		}
	}
	p := &st.Protocol
	if c.within != 0 {
		if c.budget != 0 {
			return withHint(fail(Usage, "--budget and --time-budget are both given"), "--budget chooses the gate's blocks and looks; --time-budget ends those after 10, 20 and 40 earlier")
		}
		c.budget = c.within
	}
	switch {
	case c.gated && (c.blocks > 0 || c.until != "" || c.most > 0):
		return withHint(fail(Usage, "a gate has its own number of blocks: it looks after 10, 20 and 40"), "leave --blocks, --until and --max-blocks out; --time-budget can end it earlier")
	case c.blocks > 0 && (until > 0 || c.most > 0 && !claims):
		return withHint(fail(Usage, "--blocks fixes the number that --until and --max-blocks leave open"), "give --max-blocks %d instead of --blocks", c.blocks)
	case c.budget != 0 && (c.budget < time.Second || c.budget > study.MaxTimeBudget):
		return fail(Usage, "--%s is %s: expected from 1s to 720h, such as 10m", map[bool]string{true: "budget", false: "time-budget"}[c.within != 0], c.budget)
	case c.most < 0 || c.most > study.MostBlocks:
		return fail(Usage, "--max-blocks is %d: expected from 1 to %d", c.most, study.MostBlocks)
	}
	if c.budget > 0 {
		p.TimeBudgetNS = int64(c.budget)
	}
	if claims || len(p.ClaimLooks) > 0 && !c.gated && c.blocks == 0 && until == 0 {
		return c.untilClaims(st)
	}
	p.ClaimLooks, p.ClaimTimeNS = nil, 0
	if until > 0 {
		p.Until = until
	}
	switch {
	case c.gated && c.within > 0:
		p.Until, p.Blocks = 0, mostInBudget
	case c.gated:
		p.Until, p.Blocks = 0, gate.Looks[len(gate.Looks)-1]
	case c.blocks > 0:
		p.Until, p.Blocks = 0, c.blocks
	case p.Until > 0 || p.TimeBudgetNS > 0:
		most := cmp.Or(c.most, st.MaxBlocks)
		p.Blocks = study.Cap(*p, most)
	case c.most > 0:
		return withHint(fail(Usage, "--max-blocks is for --until and --time-budget, and neither is given"), "--blocks %d fixes the number", c.most)
	}
	return nil
}

// untilClaims puts the blocks into a study that go to its claims.
func (c *changes) untilClaims(st *study.Study) error {
	p := &st.Protocol
	fixed, most := p.Fixed(), c.most
	if c.blocks > 0 {
		fixed = c.blocks
	}
	switch {
	case len(st.Claims) == 0:
		return withHint(fail(Usage, "--until claims measures until the study's claims are decided, and %s has none", st.Name), "--until 2%% measures until each ratio is known to ± 2 %%")
	case most > 0 && most <= fixed:
		return withHint(fail(Usage, "--max-blocks is %d, and %d blocks are measured before the claims are looked at", most, fixed), "--blocks %d measures that many and no further ones", most)
	case most == 0 && c.blocks == 0 && len(p.ClaimLooks) > 0:
		return nil // as the study says
	}
	p.Until, p.ClaimLooks = 0, study.ClaimLooks(fixed, most)
	p.Blocks = p.ClaimLooks[len(p.ClaimLooks)-1]
	return nil
}

// comparable refuses to wait for the width of ratios where there is none.
func comparable(p *study.Plan) error {
	if p.Protocol.Until == 0 || len(p.Cells) == 0 {
		return nil
	}
	in := map[int]int{}
	for _, c := range p.Cells {
		if in[c.Workload]++; in[c.Workload] > 1 {
			return nil
		}
	}
	return withHint(fail(Usage, "every workload of this plan runs in one environment: there is no ratio whose interval could become narrow"), "give --blocks instead of --until")
}

// listed is 10, 20 and 40.
func listed(numbers []int) string {
	return words.List(lists.Map(numbers, strconv.Itoa))
}

// course says in words when a run of this protocol ends; "" where the number
// of blocks is fixed.
func course(p record.Protocol, gated, budget bool) string {
	var parts []string
	switch {
	case gated && budget && p.TimeBudgetNS == 0:
		return fmt.Sprintf("looks at most three times in %d blocks, and ends when the gate can tell", p.Blocks)
	case gated && budget:
		return fmt.Sprintf("looks at most three times in %s, and ends when the gate can tell", time.Duration(p.TimeBudgetNS))
	case gated:
		parts = append(parts, "looks after 10, 20 and 40 blocks, and ends when the gate can tell")
	case len(p.ClaimLooks) > 0:
		parts = append(parts, fmt.Sprintf("looks at the claims after %s blocks, and ends when they are decided", listed(p.ClaimLooks)))
		if p.ClaimTimeNS > 0 {
			parts[0] += fmt.Sprintf(", or when %s went into the blocks after the first %d", time.Duration(p.ClaimTimeNS), p.Fixed())
		}
	case p.Until > 0:
		var at []string
		for b := sequential.FirstLook; b < p.Blocks && len(at) < 4; b *= 2 {
			at = append(at, fmt.Sprint(b))
		}
		looks := "looks after " + strings.Join(at, ", ")
		if len(at) == 0 {
			looks = "looks at the end, since the first look is after 10"
		} else if len(at) == 4 {
			looks += " …"
		}
		parts = append(parts, fmt.Sprintf("%s blocks, and ends when each ratio is known to ± %.3g %%", looks, 100*p.Until))
	}
	if p.TimeBudgetNS > 0 {
		parts = append(parts, fmt.Sprintf("starts no block that would not fit into %s", time.Duration(p.TimeBudgetNS)))
	}
	if len(parts) == 0 {
		return ""
	}
	if p.TimeBudgetNS > 0 && p.Blocks >= mostInBudget {
		return strings.Join(parts, "; ") // that bound nobody set, and nobody reaches
	}
	return fmt.Sprintf("%s; at most %d blocks", strings.Join(parts, "; "), p.Blocks)
}
