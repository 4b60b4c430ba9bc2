package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"plimsoll/internal/engine"
	"plimsoll/internal/probe"
	"plimsoll/internal/record"
	"plimsoll/internal/study"
)

// session holds the environments of a run while they are open.
type session struct {
	kit  *engine.Kit
	envs map[string]*openEnv
}

// openEnv is one environment that is ready for trials.
type openEnv struct {
	rec   *record.Environment
	env   engine.Environment
	clock record.Clock // "" until it is decided
	// seen is what the first payload saw; later ones must see the same.
	seen *record.Inside
	// virtual: the engine is simulated, so there is no host to keep quiet.
	virtual bool
}

// calibrationRounds is how often the clocks are compared.
const calibrationRounds = 20

// openAll opens every environment of the plan. One that can't be opened is
// taken out of the plan, with its reason, and the others go on; once trials
// have been recorded the plan is fixed, and its trials will fail.
func (r *runner) openAll(ctx context.Context, sum *Summary) error {
	r.session = &session{kit: r.kit, envs: map[string]*openEnv{}}
	for i := range r.Plan.Environments {
		rec := &r.Plan.Environments[i]
		if err := ctx.Err(); err != nil {
			return err
		}
		select {
		case <-r.Finish:
			return context.Canceled
		default:
		}
		r.progress.Step("opening " + rec.ID)
		if err := r.open(ctx, rec); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			r.progress.Remark(rec.ID + " is left out: " + err.Error())
			sum.Excluded = append(sum.Excluded, exclusion(rec, err))
		}
	}
	if len(r.writer.Complete()) == 0 {
		for _, x := range sum.Excluded {
			if err := r.Plan.Drop(x.ID, x.Reason, x.Fix); err != nil {
				return err
			}
		}
	}
	if err := r.preparePulls(ctx); err != nil {
		return err
	}
	r.Plan.Record(r.rec)
	for i := range r.rec.Environments {
		if o := r.session.envs[r.rec.Environments[i].ID]; o != nil {
			o.rec = &r.rec.Environments[i]
		}
	}
	return nil
}

// open makes one environment ready.
func (r *runner) open(ctx context.Context, rec *record.Environment) error {
	e, ok := r.engines[rec.Engine]
	if !ok {
		return &engine.Error{Class: record.Unavailable, Text: fmt.Sprintf("this plimsoll has no engine %q", rec.Engine)}
	}
	r.tried[rec.ID] = true
	ctx, cancel := context.WithTimeout(ctx, r.openLimit)
	defer cancel()
	p := r.rec.Protocol
	env, err := e.Open(ctx, r.kit, engine.Spec{
		ID: rec.ID, Levels: rec.Levels,
		Limits: engine.Limits{CPUs: p.CPUs, MemoryBytes: p.MemoryBytes},
	})
	if err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return &engine.Error{Class: record.TimeOut, Text: fmt.Sprintf("opening it took more than %s", r.openLimit), Err: err}
		}
		return err
	}
	rec.Facts = env.Facts()
	o := &openEnv{rec: rec, env: env, virtual: rec.Facts["simulated"] == "yes"}
	r.session.envs[rec.ID] = o
	r.calibrate(ctx, o)
	return nil
}

// calibrate holds the clock exchange where the engine can.
func (r *runner) calibrate(ctx context.Context, o *openEnv) {
	c, ok := o.env.(engine.Calibrator)
	if !ok {
		return
	}
	word := newWord()
	task := engine.Task{
		Name:  fmt.Sprintf("plimsoll-%s-clock-%d", r.rec.ID, len(r.session.envs)),
		Argv:  probe.PayloadArgs{Word: word, Echo: true}.Argv(probePath),
		Limit: r.limit(),
	}
	rounds, err := c.Calibrate(ctx, task, calibrationRounds)
	if err != nil {
		r.progress.Remark(fmt.Sprintf("%s: the clock exchange did not work (%v); whose clock it has is decided by its trials", o.rec.ID, err))
		return
	}
	o.clock = clockOf(rounds)
	o.rec.Clock = o.clock
}

// closeAll closes every environment, whatever the others say.
func (s *session) closeAll(ctx context.Context) error {
	var errs []error
	ids := make([]string, 0, len(s.envs))
	for id := range s.envs {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		if err := s.envs[id].env.Close(ctx); err != nil {
			errs = append(errs, fmt.Errorf("closing %s: %w", id, err))
		}
	}
	return errors.Join(errs...)
}

// exclusion turns the error of an Open into what the report shows.
func exclusion(rec *record.Environment, err error) record.Excluded {
	x := record.Excluded{ID: rec.ID, Engine: rec.Engine, Levels: rec.Levels, Kind: study.Unavailable}
	x.Reason, x.Fix = engine.Reason(err)
	return x
}
