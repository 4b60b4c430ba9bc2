//go:build linux

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/bisection"
	"plimsoll/internal/understand/analyze/evaluate"
)

// The levels of build of a bisection: the ends, the commit in question, and of a pair
// the one before.
const (
	goodLevel      = "good"
	badLevel       = "bad"
	candidateLevel = "candidate"
	beforeLevel    = "before"
)

// betweenFlags are how a commit is measured between two others.
type betweenFlags struct {
	turn
	engine   string
	workload string
	metric   string
	budget   time.Duration
	seed     uint64
	tuned    bool
}

// commitRun is a measurement of builds in the same blocks, for one question.
type commitRun struct {
	*betweenFlags
	program string
	rest    []string // NAME=LEVEL
	builds  []record.Build
	kind    bisection.Kind
	test    bisection.Test
	dir     string
	command string // what measures the same again

	metrics record.Metric // that was measured
	title   string        // of the workload
	finding bisection.Finding
	why     string // it was skipped
	envs    map[string]string
}

// run measures until it is decided, or the time is up.
func (x *commitRun) run(w World) error {
	s, err := newSetting(w)
	if err != nil {
		return err
	}
	var levels []string
	for _, b := range x.builds {
		levels = append(levels, b.Level)
	}
	text, err := x.study(s, levels)
	if err != nil {
		return err
	}
	return smallStudy{
		by: "bisect", of: x.program, text: text, dir: x.dir, turn: x.turn, builds: x.builds,
		keeps: func(string) bool { return false }, command: func(uint64) string { return x.command },
	}.run(w, x.measured)
}

// study is the one that is measured, of these levels of build.
func (x *commitRun) study(s *setting, levels []string) (string, error) {
	return buildsStudy{
		by: "bisect", title: "A commit of " + x.program, program: x.program, engine: x.engine, levels: levels, rest: x.rest,
		course:   fmt.Sprintf("time-budget: %s, max-blocks: %d", x.budget, bisection.MostBlocks),
		workload: x.workload, metrics: oneOf(x.metric), seed: x.seed, tuned: x.tuned,
	}.text(s.engines)
}

// possible says what of an engine, a level, a workload or a metric there is not on any
// machine, before something is built for it.
func (x *commitRun) possible(s *setting) error {
	text, err := x.study(s, []string{goodLevel, badLevel})
	if err != nil {
		return err
	}
	cat := s.studyCatalogue()
	st, err := study.Read(study.Source{Path: "(bisect)", Data: []byte(text)}, cat)
	if err != nil {
		return &exitError{status: Usage, err: err}
	}
	p, err := study.Expand(st, cat, study.Options{})
	if err != nil {
		return &exitError{status: Usage, err: err}
	}
	choice := x.choice()
	return choice.choose(p)
}

// choice is of what is compared.
func (x *commitRun) choice() abRun {
	return abRun{abFlags: &abFlags{measuredBuilds: measuredBuilds{metrics: oneOf(x.metric)}}}
}

// oneOf is a list of a word, empty without one.
func oneOf(word string) []string {
	if word == "" {
		return nil
	}
	return []string{word}
}

func (x *commitRun) measured(ctx context.Context, w World, o run.Options) error {
	choice := x.choice()
	if err := choice.choose(o.Plan); err != nil {
		return err
	}
	x.metric, x.envs = choice.asked[0], map[string]string{}
	for _, e := range o.Plan.Environments {
		x.envs[e.Levels[engine.Build]] = e.ID
	}
	if done, err := x.lacks(o.Plan.Excluded); done || err != nil {
		return err
	}
	o.Whole = true
	o.Steering = run.Steering{
		Say:  sayLook,
		At:   func(blocks int) bool { return slices.Contains(bisection.Looks, blocks) },
		Look: func(_ int, why string) (record.Look, error) { return x.look(o.Dir, why) },
	}
	sum, err := run.Execute(ctx, o)
	if errors.Is(err, run.ErrLacking) {
		if done, err := x.lacks(sum.Excluded); done || err != nil {
			return err
		}
		return unopened(sum.Excluded)
	}
	if err != nil {
		return runError(err, o.Dir, sum != nil)
	}
	tellLeft(w, sum)
	if sum.Interrupted {
		return fail(Interrupted, "interrupted")
	}
	res, err := readWith(o.Dir, evaluate.Options{})
	if err != nil {
		return err
	}
	return x.judge(res, true)
}

// lacks says that the commit in question can't be started, which passes it over; that
// an end can't be is an error.
func (x *commitRun) lacks(excluded []record.Excluded) (skipped bool, err error) {
	for _, e := range excluded {
		level := e.Levels[engine.Build]
		if e.Reason == "" || level == "" {
			continue
		}
		if level != candidateLevel {
			return false, unopened([]record.Excluded{e})
		}
		x.finding, x.why, skipped = bisection.Finding{Verdict: bisection.Skipped}, "it can't be started: "+e.Reason, true
	}
	return skipped, nil
}

// look decides between blocks.
func (x *commitRun) look(dir, why string) (record.Look, error) {
	l := record.Look{Rule: record.RuleBisect, Asked: 1}
	res, err := readResult(dir)
	if err != nil {
		return l, err
	}
	l.Blocks = res.Run.Blocks
	if err := x.judge(res, false); err != nil {
		return l, err
	}
	if x.finding.Decided(x.kind) {
		l.Settled, l.Ended, l.Why = 1, true, "it is decided"
	}
	return endedBy(l, why), nil
}

// fails is the share of blocks in which a commit may give no value where the good end
// does; beyond it does not run.
const fails = 1.0 / 3

// judge takes what the blocks so far say.
func (x *commitRun) judge(res *analyze.Result, last bool) error {
	work := &res.Workloads[0]
	t := work.Table(x.metric)
	if t == nil {
		return withHint(fail(Failed, "no trial gave a value of %s", x.metric), "plimsoll report %s says why", shortPath(x.dir))
	}
	x.metrics, x.title = t.Metric, work.ID
	values := func(level string) []float64 {
		if c := t.Cell(x.envs[level]); c != nil {
			return c.ByBlock
		}
		return nil
	}
	v := bisection.Values{Higher: t.Metric.Better == record.HigherIsBetter,
		Good: values(goodLevel), Bad: values(badLevel), Commit: values(candidateLevel), Before: values(beforeLevel)}
	blocks := float64(res.Run.Blocks)
	for _, level := range []string{goodLevel, badLevel, beforeLevel, candidateLevel} { // an end that fails decides nothing
		_, there := x.envs[level]
		lost := blocks - float64(counted(values(level)))
		if !there || lost <= fails*blocks {
			continue
		}
		why := fmt.Sprintf("%g of %g trials failed", lost, blocks)
		if level != candidateLevel {
			return withHint(fail(Failed, "%s: %s", x.envs[level], why), "plimsoll report %s says why", shortPath(x.dir))
		}
		x.finding, x.why = bisection.Finding{Verdict: bisection.Skipped}, why
		return nil
	}
	x.finding = x.test.Look(x.kind, v, last)
	return nil
}

// counted is how many blocks have a value.
func counted(byBlock []float64) (n int) {
	for _, v := range byBlock {
		if v == v { // no NaN
			n++
		}
	}
	return n
}
