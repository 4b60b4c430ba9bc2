package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// session holds the environments of a run while they are open. An environment
// that does not name an image is opened once for each image that its workloads
// run in.
type session struct {
	envs map[opened]*openEnv
}

// opened is an environment with the image that it was opened with.
type opened struct{ env, image string }

// any is the environment of this id, with whatever image came first.
func (s *session) any(env string) *openEnv {
	var first *openEnv
	for k, o := range s.envs {
		if k.env == env && (first == nil || o.order < first.order) {
			first = o
		}
	}
	return first
}

// sorted gives all in the order in which they were opened.
func (s *session) sorted() []*openEnv {
	return slices.SortedFunc(maps.Values(s.envs), func(a, b *openEnv) int { return cmp.Compare(a.order, b.order) })
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
	reach   *reach // nil until it is tried
	image   string
	order   int
}

// calibrationRounds is how often the clocks are compared.
const calibrationRounds = 20

// openAll opens every environment of the plan. One that can't be opened is
// taken out of the plan, with its reason, and the others go on; once trials
// have been recorded the plan is fixed, and its trials will fail.
func (r *runner) openAll(ctx context.Context, sum *Summary) error {
	r.session = &session{envs: map[opened]*openEnv{}}
	images, err := r.images()
	if err != nil {
		return err
	}
	for i := range r.Plan.Environments {
		rec := &r.Plan.Environments[i]
		for _, image := range images[rec.ID] {
			if err := ctx.Err(); err != nil {
				return err
			}
			select {
			case <-r.Finish:
				return context.Canceled
			default:
			}
			if err := r.openOne(ctx, rec, image, len(images[rec.ID]) > 1, sum); err != nil {
				return err
			}
		}
	}
	if err := r.hostLacks(ctx, sum); err != nil {
		return err
	}
	if err := r.tryReach(ctx, sum); err != nil {
		return err
	}
	if len(r.writer.Complete()) == 0 {
		if err := r.leaveOut(sum.Excluded); err != nil {
			return err
		}
	}
	if err := r.preparePulls(ctx); err != nil {
		return err
	}
	if err := r.prepareRamps(ctx); err != nil {
		return err
	}
	r.Plan.Record(r.rec)
	for i := range r.rec.Environments {
		for _, o := range r.session.sorted() {
			if o.rec.ID == r.rec.Environments[i].ID {
				o.rec = &r.rec.Environments[i]
			}
		}
	}
	return nil
}

// openOne opens an environment with one image. The error is the context's.
func (r *runner) openOne(ctx context.Context, rec *record.Environment, image string, several bool, sum *Summary) error {
	what := rec.ID
	if several {
		what += " with the image " + cmp.Or(image, engine.ImageName(engine.Spec{}))
	}
	r.progress.Step("opening " + what)
	err := r.open(ctx, rec, image, several)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.progress.Remark(what + " is left out: " + err.Error())
	x := exclusion(rec, err)
	if !several {
		sum.Excluded = append(sum.Excluded, x)
		return nil
	}
	// Only the workloads of this image can't run here.
	for _, c := range r.Plan.Cells {
		if r.Plan.Environments[c.Env].ID == rec.ID && r.imageOf(rec, r.Plan.Workloads[c.Workload].Name) == image {
			one := x
			one.Workload = r.Plan.Workloads[c.Workload].ID
			sum.Excluded = append(sum.Excluded, one)
		}
	}
	return nil
}

// leaveOut takes what could not be opened out of the plan.
func (r *runner) leaveOut(excluded []record.Excluded) error {
	for _, x := range excluded {
		var err error
		if x.Workload == "" {
			err = r.Plan.Drop(x.ID, x.Reason, x.Fix)
		} else {
			err = r.Plan.DropCell(x.ID, x.Workload, study.Unavailable, x.Reason, x.Fix)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// images are those that each environment must be opened with, in the order of
// the plan.
func (r *runner) images() (map[string][]string, error) {
	out := map[string][]string{}
	for _, c := range r.Plan.Cells {
		env := &r.Plan.Environments[c.Env]
		if _, err := r.find(r.Plan.Workloads[c.Workload].Name); err != nil {
			return nil, err
		}
		image := r.imageOf(env, r.Plan.Workloads[c.Workload].Name)
		if !slices.Contains(out[env.ID], image) {
			out[env.ID] = append(out[env.ID], image)
		}
	}
	return out, nil
}

// imageOf is the image that a workload runs in in this environment: the one
// that the study names, else the workload's own; empty stands for the
// engine's default, or for none (the host's own files).
func (r *runner) imageOf(env *record.Environment, name string) string {
	w, err := r.find(name)
	if err != nil {
		w.Image = ""
	}
	return ImageFor(env, w, r.takesImages(env.Engine))
}

// ImageFor is the image that a workload runs in in an environment: the one that the
// study names, else the workload's own; empty stands for the engine's default, or for
// none. takes says whether the engine can be given one.
func ImageFor(env *record.Environment, w workload.Workload, takes bool) string {
	if l := env.Levels[engine.Image]; takes && l != "" && l != engine.DefaultLevel {
		return l
	}
	if !takes || w.Image == engine.ImageName(engine.Spec{}) {
		return ""
	}
	return w.Image
}

// open makes one environment ready.
func (r *runner) open(ctx context.Context, rec *record.Environment, image string, several bool) error {
	e, ok := r.engines[rec.Engine]
	if !ok {
		return &engine.Error{Class: record.Unavailable, Text: fmt.Sprintf("this plimsoll has no engine %q", rec.Engine)}
	}
	if err := r.canBeCold(e); err != nil {
		return err
	}
	r.tried[rec.ID] = true
	limited := newOpening(ctx, r.openLimit)
	defer limited.end()
	ctx = limited
	r.kit.Longer = func(what string, by time.Duration) {
		r.progress.Step(what)
		limited.lengthen(by)
	}
	defer func() { r.kit.Longer = nil }()
	p := r.rec.Protocol
	levels, limits, err := engine.Limited(maps.Clone(rec.Levels), engine.Limits{CPUs: p.CPUs, MemoryBytes: p.MemoryBytes})
	if err != nil {
		return &engine.Error{Class: record.Unsupported, Text: err.Error()}
	}
	spec := engine.Spec{ID: rec.ID, Levels: levels, Limits: limits}.Limiting()
	if image != "" {
		if spec.Levels == nil {
			spec.Levels = map[string]string{}
		}
		spec.Levels[engine.Image] = image
		if several { // adapters make names of it
			spec.ID += "-" + image
		}
	}
	builds, programs, err := r.buildsOf(rec)
	if err != nil {
		return err
	}
	r.prover.begin()
	env, err := e.Open(ctx, r.kit.With(builds), spec)
	if err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return &engine.Error{Class: record.TimeOut, Text: fmt.Sprintf("opening it took more than %s", limited.most()), Err: err}
		}
		return err
	}
	facts, err := factsGuarded(env)
	if err == nil {
		err = r.prover.judge(builds, programs, env, true)
	}
	if err != nil {
		return errors.Join(err, closeGuarded(context.WithoutCancel(ctx), env, 2*r.openLimit))
	}
	facts = r.prover.builtFacts(facts, builds)
	if rec.Facts == nil || r.session.any(rec.ID) == nil {
		rec.Facts = facts
	}
	rec.Unverified = rec.Unverified || engine.UntriedRuntime(e.Info().Untried[engine.Runtime], facts)
	o := &openEnv{rec: rec, env: env, virtual: facts["simulated"] == "yes", image: image, order: len(r.session.envs)}
	r.session.envs[opened{rec.ID, image}] = o
	if p, ok := env.(engine.Proved); ok && !o.virtual {
		r.insider.read(rec.ID, r.insider.inForce(p.Proof())) // the first trial is compared with it
	}
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
	rounds, err := safely(func() ([]probe.Exchange, error) { return c.Calibrate(ctx, task, calibrationRounds) })
	if err != nil {
		r.progress.Remark(fmt.Sprintf("%s: the clock exchange did not work (%v); whose clock it has is decided by its trials", o.rec.ID, err))
		return
	}
	o.clock = clockOf(rounds)
	o.rec.Clock = o.clock
}

// closeAll closes every environment, whatever the others say, the last one
// first: a process that an engine has brought up may hold what was made before
// it, as Podman's pause process holds a copy of every mount. limit is of each.
func (s *session) closeAll(ctx context.Context, limit time.Duration) error {
	var errs []error
	for _, o := range slices.Backward(s.sorted()) {
		if err := closeGuarded(ctx, o.env, limit); err != nil {
			errs = append(errs, fmt.Errorf("closing %s: %w", o.rec.ID, err))
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
