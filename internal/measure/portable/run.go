package portable

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/record"
)

// Options are what a run is given.
type Options struct {
	Look *Look
	Plan *study.Plan
	Run  *record.Run // its tool and arguments; the rest is filled in
	Dir  string      // of the record
	// Resume goes on with the run in Dir, whose record Run and Plan were read from.
	Resume bool
	// Unlike goes on also where this machine or an engine is not what the run began
	// with; without it that is a likeness.Error.
	Unlike bool
	// Trusted are users, by number, to whom the record of a resumed run may belong.
	Trusted []int
	// Ledgers is the folder of all runs' ledgers.
	Ledgers string
	// Finish ends the run after the trial in flight.
	Finish <-chan struct{}
	// Say tells of progress.
	Say func(string)
}

// Summary is what came of a run, with its earlier parts.
type Summary struct {
	Trials, Planned, Failed int
	Interrupted             bool
	Unclean                 error
}

// ErrNothing is returned where no environment could be opened.
var ErrNothing = errors.New("no environment of this study can be measured here")

type run struct {
	Options
	ledger   *Ledger
	writer   *record.Writer
	was      *record.Run // of a resumed run: its record as it stands
	envs     map[string]*environment
	lost     map[string]string // of a resumed run: why an environment can't be opened any more
	provided map[engine.Thing]bool
	trying   *atomic.Bool // the first trial has begun
	removals []func(context.Context) error
}

// Execute carries out a plan. A summary beside an error says that there is a record.
func Execute(ctx context.Context, o Options) (sum *Summary, err error) {
	r := &run{Options: o, envs: map[string]*environment{}, lost: map[string]string{}, provided: map[engine.Thing]bool{}, trying: &atomic.Bool{}}
	if err := r.begin(ctx); err != nil {
		return nil, err
	}
	measured, told := make(chan struct{}), make(chan struct{})
	stop := sync.OnceFunc(func() { close(measured); <-told }) // nothing is said behind the last line
	defer stop()
	go func() { defer close(told); r.tellFinish(measured) }()
	defer func() {
		unclean := r.cleanUp(context.WithoutCancel(ctx))
		if sum != nil {
			sum.Unclean = unclean
		} else {
			err = errors.Join(err, unclean)
		}
	}()
	if err := r.openAll(ctx); err != nil {
		return nil, err
	}
	if err := r.openRecord(); err != nil {
		return nil, err
	}
	sum = &Summary{Planned: o.Plan.Trials()}
	err = r.trials(ctx, sum)
	stop()
	o.Run.Status, o.Run.Finished = "done", time.Now()
	if sum.Interrupted || err != nil {
		o.Run.Status = "interrupted"
	}
	return sum, errors.Join(err, r.writer.Update(o.Run), r.writer.Close())
}

// tellFinish says what the user waits for who asks for the end before all is measured.
func (r *run) tellFinish(measured <-chan struct{}) {
	select {
	case <-measured:
		return
	case <-r.Finish:
	}
	select { // of two that are ready, either is taken
	case <-measured:
		return
	default:
	}
	if r.trying.Load() {
		r.Say("ending after the trial in flight; once more ends it at once")
	} else {
		r.Say("no trial has begun: ending when the environments are open; once more ends it at once")
	}
}

// openAll opens the plan's environments with their images; one that can't be is
// excluded, with the reason.
func (r *run) openAll(ctx context.Context) error {
	for _, rec := range slices.Clone(r.Plan.Environments) {
		r.Say("opening " + rec.ID)
		env, err := r.open(ctx, &rec)
		if env != nil && env.d != nil { // the first to be entered is the last to be called: removals use it
			r.removals = append(r.removals, func(context.Context) error { return env.d.Close() })
		}
		if err == nil {
			err = r.prove(ctx, env)
		}
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if errors.Is(err, ErrElsewhere) { // by a slip of the tunnel: a resumed run would lose its trials by it
				return err
			}
			reason, fix := engine.Reason(err)
			r.Say(rec.ID + " is unavailable: " + Advised(reason, fix))
			if r.measured() { // the places of the trials are fixed
				r.lost[rec.ID] = reason
				continue
			}
			if err := r.Plan.Drop(rec.ID, reason, fix); err != nil {
				return err
			}
			continue
		}
		r.envs[rec.ID] = env
	}
	if len(r.Plan.Cells) == 0 || len(r.envs) == 0 {
		return ErrNothing
	}
	r.Plan.Record(r.Run)
	for i := range r.Run.Environments {
		e := &r.Run.Environments[i]
		if env := r.envs[e.ID]; env != nil {
			e.Facts, e.Clock = env.rec.Facts, record.ClockForeign
			e.Unverified = e.Unverified || r.Look.Found(e.Engine).Unverified != "" || untriedDefault(e)
		}
	}
	return nil
}

// untriedDefault says whether the engine's default runtime, which an environment has that
// names none, is one that would be unverified if it were named.
func untriedDefault(e *record.Environment) bool {
	if r := e.Levels[engine.Runtime]; r != "" && r != engine.DefaultLevel {
		return false
	}
	all, err := Catalogue(nil)
	if err != nil {
		return false // it was read when the plan was made
	}
	i := slices.IndexFunc(all.Engines, func(info study.EngineInfo) bool { return info.Name == e.Engine })
	return i >= 0 && engine.UntriedRuntime(all.Engines[i].Untried[engine.Runtime], map[string]string{engine.Runtime: e.Facts["default-runtime"]})
}

// trials carries out the plan's trials in their order.
func (r *run) trials(ctx context.Context, sum *Summary) error {
	if err := r.countEarlier(sum); err != nil {
		return err
	}
	said := time.Now()
	for p := range r.Plan.From(0) {
		if r.writer.Complete()[p.Seq] {
			continue
		}
		select {
		case <-r.Finish:
			sum.Interrupted = true
			return nil
		default:
		}
		r.trying.Store(true)
		if time.Since(said) > 5*time.Second {
			said = time.Now()
			r.Say(fmt.Sprintf("%d of %d trials", sum.Trials, sum.Planned))
		}
		t, res, keep, err := r.trial(ctx, p)
		if err != nil {
			if ctx.Err() != nil {
				sum.Interrupted = true
				return nil
			}
			return err
		}
		if (!t.OK() || keep) && len(res.Stdout)+len(res.Stderr) > 0 {
			if t.Output, err = r.writer.WriteOutput(t.Seq, res.Stdout, res.Stderr); err != nil {
				return err
			}
		}
		if err := r.writer.Append(t); err != nil {
			return err
		}
		if sum.Trials++; t.OK() {
			continue
		}
		if sum.Failed++; r.lost[t.Env] == "" { // of a lost one it was said why
			r.Say(fmt.Sprintf("trial %d, %s with %s, failed: %s: %s", t.Seq, t.Env, t.Workload, t.Failure.Class, t.Failure.Text))
		}
	}
	return nil
}

// cleanUp takes away what the run has made, and what it could not strike out.
func (r *run) cleanUp(ctx context.Context) error {
	var errs []error
	for _, t := range r.ledger.Left() { // an engine may have made it after the request was given up
		if t.Kind == engine.KindContainer {
			err := r.Look.Around.remove(ctx, t, r.ledger.by[t.At], r.Run.ID)
			if errors.Is(err, errAbsent) {
				err = nil
			}
			errs = append(errs, r.gone(err, t))
		}
	}
	for _, remove := range slices.Backward(r.removals) {
		errs = append(errs, remove(ctx))
	}
	if r.writer != nil { // it is closed already where the run came to its trials
		errs = append(errs, r.writer.Close())
	}
	for _, t := range r.ledger.Left() {
		errs = append(errs, fmt.Errorf("the %s %s of %s is kept in the ledger: plimsoll clean --portable tries again", t.Kind, t.Name, t.Engine))
	}
	return errors.Join(append(errs, r.ledger.Close())...)
}
