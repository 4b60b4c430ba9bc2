//go:build linux

package cli

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/gate"
)

// gating is a gate on a run that is going on.
type gating struct {
	base       *analyze.Result // nil where two environments of the run are compared
	envs       []string
	thresholds gate.Thresholds
	strict     bool
}

// foresee is a remark on the way: where it can't be made, it is left out.
func (g *gating) foresee(dir string, blocks int) string {
	r, err := record.Open(dir)
	if err != nil || r.Run().Gate == nil {
		return ""
	}
	run := r.Run()
	found, seen, err := gate.Foresee(r, g.base, g.envs, g.thresholds, blocks, run.Gate.Share(math.MaxInt))
	if err != nil {
		return ""
	}
	budget := time.Duration(run.Protocol.TimeBudgetNS)
	if !run.Gate.Budget {
		budget = 0
	}
	return gate.Outlook(found, seen, blocks, budget, run.Gate.At)
}

// runGateFlags name what a run is gated by.
type runGateFlags struct {
	gateFlags
	base   string
	envs   []string
	budget time.Duration
}

func (f *runGateFlags) given() bool { return f.base != "" || len(f.envs) > 0 }

// record puts the gate into what a run will be recorded with; nil is none.
func (f *runGateFlags) record() (*record.Gate, error) {
	t, err := f.thresholds()
	switch {
	case err != nil:
		return nil, err
	case t == nil && !f.given() && f.budget != 0:
		return nil, withHint(fail(Usage, "--budget is for a gate, and none is asked for"), "give --gate or --gate-env with a threshold, or --time-budget")
	case t == nil && !f.given():
		return nil, nil
	case t == nil:
		return nil, withHint(fail(Usage, "a gate needs a threshold"), "give --fail-above 5%%, or --thresholds FILE")
	case f.base != "" && len(f.envs) > 0:
		return nil, fail(Usage, "--gate and --gate-env are two gates: choose one")
	case !f.given():
		return nil, withHint(fail(Usage, "a threshold is given, but nothing to compare the run with"), "give --gate BASE_DIR, or two environments of the run by --gate-env A --gate-env B")
	case f.base == "" && len(f.envs) != 2:
		return nil, withHint(fail(Usage, "--gate-env is given %d times", len(f.envs)), "give it twice: --gate-env BASE --gate-env NEW")
	}
	g := &record.Gate{Envs: f.envs, Looks: len(gate.Looks), Budget: f.budget > 0, FailAbove: t.FailAbove, Rules: t.Rules,
		AllowFailures: t.AllowFailures, AllowMissing: t.AllowMissing, Unlike: t.Unlike, Strict: f.strict}
	if f.base == "" {
		return g, nil
	}
	if g.Base, err = filepath.Abs(f.base); err != nil {
		return nil, fail(Failed, "finding %s: %w", f.base, err)
	}
	r, err := openRun(g.Base)
	if err != nil {
		return nil, err
	}
	g.BaseRun = r.Run().ID
	return g, nil
}

// newGating reads BASE and refuses, before anything is measured, what could not
// be gated.
func newGating(r *record.Run) (*gating, error) {
	g := r.Gate
	if g == nil {
		return nil, nil
	}
	out := &gating{envs: g.Envs, strict: g.Strict, thresholds: gate.Thresholds{FailAbove: g.FailAbove, Rules: g.Rules,
		AllowFailures: g.AllowFailures, AllowMissing: g.AllowMissing, Unlike: g.Unlike}}
	if g.Base == "" {
		known := lists.Map(r.Environments, func(e record.Environment) string { return e.ID })
		for _, id := range g.Envs {
			if !slices.Contains(known, id) {
				return nil, chosen(&analyze.ChoiceError{What: "environment", Word: id, Known: known})
			}
		}
		return out, nil
	}
	var err error
	if out.base, err = readResult(g.Base); err != nil {
		return nil, err
	}
	if out.base.Run.ID != g.BaseRun {
		return nil, withHint(fail(Failed, "%s held run %s when this run began, and holds run %s now", g.Base, g.BaseRun, out.base.Run.ID), "start a new run")
	}
	if err := gate.CanGate(out.base, r, out.thresholds); err != nil {
		return nil, refused(err)
	}
	return out, nil
}

// ofPair says whether two environments of a run are compared with each other alone.
func ofPair(g *gating, r *record.Run) bool {
	return g != nil && g.base == nil || strings.HasPrefix(r.Study.Command, abBegins)
}

func (g *gating) at(blocks int) bool { return slices.Contains(gate.Looks, blocks) }

// judge puts the gate to a run, looking while it goes on.
func (g *gating) judge(next *analyze.Result, looking bool) (*compare.Changes, error) {
	o := compare.Options{Metrics: g.thresholds.Metrics()}
	var c *compare.Changes
	var err error
	if g.base == nil {
		c, err = compare.Within(next, g.envs[0], g.envs[1], o)
	} else {
		c, err = compare.Between(g.base, next, o)
	}
	if err != nil {
		return nil, chosen(err)
	}
	t := g.thresholds
	t.Looking = looking
	if err := gate.Judge(c, t); err != nil {
		return nil, refused(err)
	}
	return c, nil
}

// look says whether the run ends.
func (g *gating) look(dir, why string) (record.Look, error) {
	next, err := readResult(dir)
	if err != nil {
		return record.Look{}, err
	}
	c, err := g.judge(next, true)
	if err != nil {
		return record.Look{}, err
	}
	if c.Gate.State == compare.Inconclusive && why != "" {
		why = fmt.Sprintf("the gate cannot tell, and %s", why)
	}
	return endedBy(gate.Look(c), why), nil
}
