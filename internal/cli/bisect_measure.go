//go:build linux

package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/measure/build"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/bisection"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/analyze/releases"
	"plimsoll/internal/understand/report"
)

// The levels of build of a bisection.
const (
	goodLevel      = "good"
	badLevel       = "bad"
	candidateLevel = "candidate"
)

// betweenFlags are how a commit is built, and measured between two builds.
type betweenFlags struct {
	turn
	engine     string
	workload   string
	metric     string
	budget     time.Duration
	seed       uint64
	tuned      bool
	level      string // --error
	build      string
	buildLimit time.Duration
}

// The defaults of judging a commit.
const (
	bisectBudget     = 3 * time.Minute
	bisectBuildLimit = 30 * time.Minute
	bisectError      = "0.5%"
)

func (f *betweenFlags) add(c *cobra.Command, w World, build string) {
	fl := c.Flags()
	f.workload = lifeCycle
	fl.StringVar(&f.engine, "engine", "", "the engine that runs the program (default: the program's own, and none above a runtime)")
	fl.StringVar(&f.workload, "workload", f.workload, "what runs in the containers (plimsoll workloads)")
	fl.StringVar(&f.metric, "metric", "", "decide by this metric, or by size, that of the program's file (default: the workload's first, else startup)")
	fl.DurationVar(&f.budget, "budget", bisectBudget, "the time that measuring one commit may take")
	fl.Uint64Var(&f.seed, "seed", 0, "seed of the order (0: drawn and recorded)")
	fl.BoolVar(&f.tuned, "tuned", false, "meanwhile set what makes starts scatter less on this machine, and put it back (plimsoll tune lists it)")
	fl.StringVar(&f.level, "error", bisectError, "the chance of a wrong decision about one commit")
	fl.StringVar(&f.build, "build", "", build)
	fl.DurationVar(&f.buildLimit, "build-limit", bisectBuildLimit, "the time that one build may take")
	f.addTurn(c)
	completes(c, "workload", completeWorkloads)
	completesEngines(c, w)
	completesMetric(c)
}

// commitRun is a measurement of three builds in the same blocks.
type commitRun struct {
	*betweenFlags
	world   World
	set     *setting
	program string
	rest    []string // NAME=LEVEL
	alpha   float64
	ends    []record.Build // the good and the bad one
	builds  []record.Build
	dir     string

	metrics record.Metric // that was measured
	title   string        // of the workload
	finding bisection.Finding
	why     string // it was skipped
	envs    map[string]string
}

// asked is what the flags ask for. It says what of a program, an engine, a level, a
// workload or a metric there is not on any machine, before something is built.
func (f *betweenFlags) asked(w World, program string, rest []string, fl *pflag.FlagSet) (*commitRun, error) {
	x := &commitRun{betweenFlags: f, world: w, program: program, rest: rest}
	var err error
	if x.alpha, err = percentage("error", f.level); err == nil && (x.alpha == 0 || x.alpha > 0.5) {
		err = fail(Usage, "--error is %q: expected a percentage above 0%% and at most 50%%", f.level)
	}
	if err != nil {
		return nil, err
	}
	if err := budgeted(f.budget); err != nil {
		return nil, err
	}
	if f.buildLimit < time.Second {
		return nil, fail(Usage, "--build-limit is %s: expected 1s or more", f.buildLimit)
	}
	if x.set, err = newSetting(w); err != nil {
		return nil, err
	}
	if f.bySize() {
		return x, sizeTakes(fl, rest)
	}
	return x, x.possible()
}

// bind takes a file as a level of build.
func (x *commitRun) bind(ctx context.Context, a build.Asked) (record.Build, error) {
	out, err := x.set.bind(ctx, []build.Asked{a})
	if err != nil {
		return record.Build{}, err
	}
	return out[0], nil
}

// candidate judges a build, and prints in one line what came of it. The error is that
// the machine, or what was asked for, decides nothing of any commit.
func (x *commitRun) candidate(ctx context.Context, a build.Asked) (bisection.Verdict, error) {
	a.Program, a.Level = x.program, candidateLevel
	b, err := x.bind(ctx, a)
	switch {
	case ctx.Err() != nil:
		return "", fail(Interrupted, "interrupted")
	case err != nil:
		return x.skip(err), nil
	case x.ends[0].SHA256 == x.ends[1].SHA256:
		return "", fail(Usage, "the good and the bad build are the very same program: there is nothing to find")
	}
	for i, v := range []bisection.Verdict{bisection.AsGood, bisection.AsBad} {
		if b.SHA256 == x.ends[i].SHA256 && !x.bySize() {
			x.finding, x.why = bisection.Finding{Verdict: v}, "it is the very same program"
			return v, x.tell()
		}
	}
	return x.judged(b)
}

// judged is candidate of a build that may be the good or the bad one itself.
func (x *commitRun) judged(b record.Build) (bisection.Verdict, error) {
	x.why, x.builds = "", append(slices.Clone(x.ends), b)
	if x.bySize() {
		x.metrics = releases.Size
		x.finding = bisection.Sizes{Good: x.ends[0].Bytes, Bad: x.ends[1].Bytes, Commit: b.Bytes}.Look()
	} else if err := x.run(); err != nil {
		return "", err
	}
	return x.finding.Verdict, x.tell()
}

// skip passes a commit over.
func (x *commitRun) skip(why error) bisection.Verdict {
	x.finding, x.why = bisection.Finding{Verdict: bisection.Skipped}, why.Error()
	_ = x.tell() // it fails only where the builds can't be told apart
	return bisection.Skipped
}

// tell prints what came of a commit. By builds that can't be told apart no commit is
// judged.
func (x *commitRun) tell() error {
	said := report.StepSentence(x.program, x.metrics, x.title, x.finding, x.why)
	if x.finding.Verdict == bisection.Unseen {
		return withHint(fail(GateOpen, "%s", said), "measure when the machine is calm, with --tuned, or with more time by --budget; if the bad build is the better one, exchange them")
	}
	fmt.Fprintln(x.world.Stdout, said)
	return nil
}

// run measures until it is decided, or the time is up.
func (x *commitRun) run() error {
	var levels []string
	for _, b := range x.builds {
		levels = append(levels, b.Level)
	}
	text, err := x.study(levels)
	if err != nil {
		return err
	}
	return smallStudy{
		by: "bisect", of: x.program, text: text, dir: x.dir, turn: x.turn, builds: x.builds,
		keeps: func(string) bool { return false }, command: func(uint64) string { return "" },
	}.run(x.world, x.measured)
}

// study is the one that is measured, of these levels of build.
func (x *commitRun) study(levels []string) (string, error) {
	return buildsStudy{
		by: "bisect", title: "A commit of " + x.program, program: x.program, engine: x.engine, levels: levels, rest: x.rest,
		course:   fmt.Sprintf("time-budget: %s, max-blocks: %d", x.budget, bisection.MostBlocks),
		workload: x.workload, metrics: oneOf(x.metric), seed: x.seed, tuned: x.tuned,
	}.text(x.set.engines)
}

// possible says what there is not on any machine.
func (x *commitRun) possible() error {
	text, err := x.study([]string{goodLevel, badLevel})
	if err != nil {
		return err
	}
	cat := x.set.studyCatalogue()
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
	if x.finding.Decided() {
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
		Good: values(goodLevel), Bad: values(badLevel), Commit: values(candidateLevel)}
	blocks := float64(res.Run.Blocks)
	for _, level := range []string{goodLevel, badLevel, candidateLevel} { // an end that fails decides nothing
		_, there := x.envs[level]
		lost := blocks - float64(lists.Count(values(level), func(v float64) bool { return !math.IsNaN(v) }))
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
	x.finding = bisection.Look(x.alpha, v, last)
	return nil
}
