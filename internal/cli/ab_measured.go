//go:build linux

package cli

import (
	"context"
	"io"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/gate"
	"plimsoll/internal/understand/report"
)

// abRun is a run of two builds.
type abRun struct {
	*abFlags
	program string
	envs    []string // that run the builds, the old one first
	asked   []string // metrics
	gating  *gating  // nil: none
}

// measured runs, and says what came of it.
func (x *abRun) measured(ctx context.Context, w World, o run.Options) error {
	if err := x.choose(o.Plan); err != nil {
		return err
	}
	beware(o)
	var err error
	if o.Run.Gate, err = x.gate(); err != nil {
		return err
	}
	planned := *o.Run
	o.Plan.Record(&planned)
	if x.gating, err = newGating(&planned); err != nil {
		return err
	}
	if text := course(o.Plan.Protocol, x.gating != nil, true); text != "" {
		o.Progress.Remark(text)
	}
	o.Whole, o.Steering = true, steering(o.Dir, &planned, x.gating)
	return smallRun(ctx, w, o, func(res *analyze.Result) error { return x.tell(w, res) })
}

// choose finds out which environment has which build, and what is compared.
func (x *abRun) choose(p *study.Plan) error {
	for _, level := range abLevels {
		for _, e := range p.Environments {
			if e.Levels[engine.Build] == level {
				x.envs = append(x.envs, e.ID)
			}
		}
	}
	var err error
	if x.asked, err = x.chosen(p); len(x.metrics) == 0 {
		p.Study.Metrics = x.asked // by which it ends, too
	}
	return err
}

// gate is the one that ends the run, nil where none is asked for. It is on what is
// compared, and on nothing else.
func (x *abRun) gate() (*record.Gate, error) {
	t, err := x.thresholds()
	if t == nil || err != nil {
		return nil, err
	}
	g := &record.Gate{Envs: x.envs, Looks: len(gate.Looks), Budget: true, AllowFailures: t.AllowFailures, Strict: x.strict}
	for _, m := range x.asked {
		g.Rules = append(g.Rules, record.GateRule{Where: "--metric " + m, Metric: m, FailAbove: t.FailAbove})
	}
	return g, nil
}

// tell prints the answer; the error is what a gate makes of it.
func (x *abRun) tell(w World, res *analyze.Result) error {
	var c *compare.Changes
	var err error
	if x.gating != nil {
		c, err = x.gating.judge(res, false)
	} else if c, err = compare.Within(res, x.envs[0], x.envs[1], compare.Options{Metrics: x.asked}); err != nil {
		err = chosen(err)
	}
	if err != nil {
		return err
	}
	p := report.PairOf(x.program, c, x.asked)
	if p == nil {
		return withHint(fail(Failed, "no trial of either build gave a value of %s", x.asked[0]), "plimsoll report on the record says why")
	}
	if err := tell(w, &x.printing, report.Pairs, p); err != nil {
		return err
	}
	stepSummary(w, func(out io.Writer) error { return report.Pairs.Write(out, "markdown", p, report.Options{}) })
	return gateStatus(c.Gate, x.strict)
}
