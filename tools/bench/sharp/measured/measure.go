// Package measured measures what the package sharp judges. It is apart, so that the
// judges are tested without the engines.
package measured

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/baseline"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/tune"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
	"plimsoll/tools/bench/sharp"
)

// task is what is measured, of an engine that can be slower.
type task struct {
	sharp.Task
	subject
}

// warmup are the blocks that do not count; in them the engine's call is noted.
const warmup = 2

// Measure finds out how long a start takes, makes the slower programs, and measures
// all of them.
func Measure(ctx context.Context, what sharp.Task) (_ *sharp.Stretch, err error) {
	i := slices.IndexFunc(subjects, func(s subject) bool { return s.name == what.Engine })
	if i < 0 {
		return nil, fmt.Errorf("-engines: %q is not among those that can be slower", what.Engine)
	}
	t := task{what, subjects[i]}
	begin := time.Now()
	program, err := exec.LookPath(t.program)
	if err != nil {
		return nil, fmt.Errorf("%s is not here: %w", t.name, err)
	}
	theirs, err := exec.LookPath("hyperfine")
	if err != nil {
		return nil, errors.New("hyperfine is needed to compare with: lab/setup test installs it")
	}
	if t.Tuned {
		if _, err := (tune.Machine{}).Wanted(tune.Everything); err != nil {
			return nil, fmt.Errorf("tuning the machine: %w (-tuned no measures it as it is)", err)
		}
	}
	dir, err := os.MkdirTemp("/var/tmp", "plimsoll-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, safepath.RemoveAll(dir)) }()
	plain := filepath.Join(dir, "plain")
	if err := compile(ctx, plain, t.program, program, 0); err != nil {
		return nil, err
	}
	first, err := t.execute(ctx, filepath.Join(dir, "first"), []string{filepath.Join(plain, t.program), filepath.Join(plain, t.program)}, fmt.Sprintf("blocks: %d", t.Calibrate), &turns{})
	if err != nil {
		return nil, err
	}
	var starts []float64
	for _, b := range first.Blocks {
		for _, ns := range b.Start[:2] {
			if ns > 0 {
				starts = append(starts, ns)
			}
		}
	}
	if len(starts) < t.Calibrate {
		return nil, fmt.Errorf("%s: only %d of %d first starts succeeded", t.name, len(starts), 2*t.Calibrate)
	}
	s := &sharp.Stretch{Engine: t.name, Tuned: t.Tuned, Changes: t.Changes, Start: stats.Median(stats.Sorted(starts))}
	t.Say("%s, %s: a start takes %.2f ms", t.name, sharp.State(t.Tuned), s.Start/1e6)
	programs := make([]string, len(t.Changes))
	for i, c := range t.Changes {
		at := plain
		if c > 0 {
			at = filepath.Join(dir, fmt.Sprintf("slower-%d", i))
			if err := compile(ctx, at, t.program, program, int64(c*s.Start)); err != nil {
				return nil, err
			}
		}
		programs[i] = filepath.Join(at, t.program)
	}
	for n := range t.Runs {
		left := (t.Budget - time.Since(begin)) / time.Duration(t.Runs-n)
		r, err := t.run(ctx, filepath.Join(dir, fmt.Sprintf("run-%d", n)), theirs, program, programs, left)
		if err != nil {
			return nil, err
		}
		t.Say("%s, %s: run %d of %d: %d blocks, %d rounds", t.name, sharp.State(t.Tuned), n+1, t.Runs, len(r.Blocks), len(r.Rounds))
		s.Runs = append(s.Runs, r)
	}
	s.Took = time.Since(begin)
	return s, nil
}

// run is one run, with hyperfine between its blocks. While it warms up, the first
// program is the one that notes how it is called.
func (t task) run(ctx context.Context, dir, theirs, program string, programs []string, left time.Duration) (*sharp.Run, error) {
	plain, noted := programs[0], filepath.Join(dir, "noted")
	kept := plain + ".kept"
	if err := swap(plain, kept); err != nil {
		return nil, err
	}
	back := sync.OnceValue(func() error { return swap(kept, plain) })
	defer func() { _ = back() }() // where the run never came to its trials
	if err := writeTap(plain, program, noted); err != nil {
		return nil, err
	}
	tt := &turns{ctx: ctx, stage: func(s string) { t.Say("%s", s) }, ready: func() (*hyperfine, error) {
		if err := back(); err != nil {
			return nil, err
		}
		c, err := readCall(noted)
		return &hyperfine{path: theirs, dir: noted, programs: programs, call: c, perRound: t.PerRound}, err
	}}
	r, err := t.execute(ctx, filepath.Join(dir, "record"), programs, t.blocksIn(left), tt)
	if err != nil {
		return nil, err
	}
	r.Rounds, r.Failed = tt.rounds, r.Failed+tt.failed
	return r, nil
}

// blocksIn says in a study how many blocks a run has that may take so long.
func (t task) blocksIn(left time.Duration) string {
	if t.Blocks > 0 {
		return fmt.Sprintf("blocks: %d", t.Blocks)
	}
	surelyTooMany := max(100, int(left.Seconds()*50))
	return fmt.Sprintf("max-blocks: %d, time-budget: %s", surelyTooMany, max(left, time.Second).Round(time.Second))
}

// execute carries out a run of all programs, the first two of which are entered as
// one environment twice.
func (t task) execute(ctx context.Context, dir string, programs []string, blocks string, tt *turns) (*sharp.Run, error) {
	base := t.with(programs[0])
	name := base.Info().Name
	engines := []engine.Engine{baseline.Native{}, baseline.Floor{}, base}
	text := fmt.Sprintf("plimsoll: 1\nname: sharp\nprotocol: {%s, warmup: %d, tuned: %t}\nworkloads: [hello]\nbaselines: [native, floor]\nenvironments:\n  - {engine: %s, %s, as: [a, b]}\n",
		blocks, warmup, t.Tuned, name, t.levels)
	ids := []string{"@a", "@b"}
	for i := 2; i < len(programs); i++ {
		id := fmt.Sprintf("%s-%d", name, i)
		ids = append(ids, id)
		engines = append(engines, engine.Named(t.with(programs[i]), id))
		text += fmt.Sprintf("  - {engine: %s, %s}\n", id, t.levels)
	}
	plan, err := PlanOf(text, engines)
	if err != nil {
		return nil, err
	}
	root := os.Geteuid() == 0
	st, err := run.StateDir(root, os.Getenv)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, err
	}
	finish := make(chan struct{})
	tt.stop = sync.OnceFunc(func() { close(finish) })
	want := len(plan.Environments)
	sum, err := run.Execute(ctx, run.Options{Run: &record.Run{}, Plan: plan, Dir: dir, Engines: engines, State: st, Root: root,
		Getenv: os.Getenv, LookPath: exec.LookPath, Progress: tt, Finish: finish, Wait: true})
	switch {
	case err != nil:
		return nil, err
	case tt.err != nil:
		return nil, tt.err
	case sum.Unclean != nil:
		return nil, fmt.Errorf("cleaning up: %w", sum.Unclean)
	case len(plan.Environments) < want && len(sum.Excluded) > 0:
		return nil, fmt.Errorf("%s can't be measured here: %s", sum.Excluded[0].ID, sum.Excluded[0].Reason)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return read(dir, ids, tt.before)
}

// PlanOf plans a study of some engines.
func PlanOf(text string, engines []engine.Engine) (*study.Plan, error) {
	cat := &study.Catalogue{Factors: engine.Factors}
	for _, e := range engines {
		i := e.Info()
		cat.Engines = append(cat.Engines, study.EngineInfo{Name: i.Name, Baseline: i.Baseline, Levels: i.Levels, Detached: i.Detached, Bare: i.Bare})
	}
	for _, w := range workload.Catalogue() {
		cat.Workloads = append(cat.Workloads, study.WorkloadInfo{Name: w.Name, Title: w.Title, Parameters: w.Parameters, NeedsDetached: w.Detached})
	}
	st, err := study.Read(study.Source{Path: "sharp", Data: []byte(text)}, cat)
	if err != nil {
		return nil, fmt.Errorf("planning: %w", err)
	}
	return study.Expand(st, cat, study.Options{})
}

// read takes from a record what each trial measured, and how long it was until the
// next one, without hyperfine's time. ids are what tells the
// environments.
func read(dir string, ids []string, before map[int]time.Duration) (*sharp.Run, error) {
	rec, err := record.Open(dir)
	if err != nil {
		return nil, err
	}
	ids = append(slices.Clone(ids), "native", "floor")
	startup := record.LifeCycle[slices.IndexFunc(record.LifeCycle, func(m record.Metric) bool { return m.ID == sharp.Metric })]
	r := &sharp.Run{Began: rec.Run().Started}
	// Of the trial before: a trial is valid until the next one.
	var begun time.Time
	var lastBlock, lastEnv int
	for t, err := range rec.Trials() {
		if err != nil {
			return nil, err
		}
		if t.Warmup {
			continue
		}
		e := slices.IndexFunc(ids, func(id string) bool { return is(t.Env, id) })
		block := t.Block - warmup
		if e < 0 {
			return nil, fmt.Errorf("the record has an environment %s that was not asked for", t.Env)
		}
		for len(r.Blocks) <= block {
			r.Blocks = append(r.Blocks, sharp.Block{Start: make([]float64, len(ids)), Wall: make([]float64, len(ids))})
		}
		if ns, ok := startup.Derive(t); ok && t.OK() {
			r.Blocks[block].Start[e] = float64(ns)
		} else {
			r.Failed++
		}
		if !begun.IsZero() {
			d := t.At.Sub(begun)
			if lastBlock != block {
				d -= before[block+1]
			}
			r.Blocks[lastBlock].Wall[lastEnv] = float64(d)
		}
		begun, lastBlock, lastEnv = t.At, block, e
	}
	if len(r.Blocks) > 0 {
		r.Blocks = r.Blocks[:len(r.Blocks)-1] // how long its last trial took is not known
	}
	if o := rec.Run().Own; o != nil {
		r.Wall, r.Trials = float64(o.Wall), float64(o.Timed)
		for _, d := range before {
			r.Wall -= float64(d)
		}
	}
	return r, nil
}

// is says whether an environment is of an engine, or the one of two entries.
func is(env, id string) bool {
	if strings.HasPrefix(id, "@") {
		return strings.HasSuffix(env, id)
	}
	name, _, _ := strings.Cut(env, "/")
	return name == id
}
