package cri

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/wrap"
	"plimsoll/internal/record"
)

// environment is a CRI server in one configuration.
type environment struct {
	engine   *Engine
	kit      *engine.Kit
	spec     engine.Spec
	s        *server
	state    *state
	settings settings
	facts    map[string]string

	// unreached says why no pod of this environment can be reached, though the
	// server gives it an address; "" where it can.
	unreached string

	stream *events // nil where the server has none
	events *events // stream, or nil: ends are polled
	polled bool    // logs are
	// look and most are for the proof only: what is looked at before a
	// container is removed, and the most that a life may take.
	look func(ctx context.Context, pod, container string) error
	most time.Duration
	// left are pods that could not be removed, since the server had gone;
	// they are removed before the next trial.
	mu      sync.Mutex // of what follows, and of the stream
	left    []string
	holding map[*held]bool

	closing sync.Once
	known   known
	release func(context.Context) error // the image
}

var (
	_ engine.Environment = (*environment)(nil)
	_ engine.Puller      = (*environment)(nil)
)

// Open is documented in engine.Engine.
func (e *Engine) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	s, err := e.connect(ctx, kit, spec.Level(engine.Endpoint))
	if err != nil {
		return nil, err
	}
	env := &environment{engine: e, kit: kit, spec: spec, s: s, facts: map[string]string{}, holding: map[*held]bool{}}
	if err := env.open(ctx); err != nil {
		return nil, errors.Join(err, env.Close(context.WithoutCancel(ctx)))
	}
	return env, nil
}

func (env *environment) open(ctx context.Context) error {
	s, kit, spec := env.s, env.kit, env.spec
	st, err := s.ask(ctx)
	if err != nil {
		return err
	}
	env.state = st
	if err := st.condition("RuntimeReady"); err != nil {
		return err
	}
	// The network is needed by default too, when it is not named.
	for _, factor := range engine.Factors {
		if err := env.engine.possible(ctx, kit, s, st, factor, spec.Level(factor)); err != nil {
			return err
		}
	}
	handler, err := st.handlerFor(spec.Level(engine.Runtime))
	if err != nil {
		return err
	}
	env.add(s.facts(st))
	env.add(limitFacts(spec.Limits))
	logs := filepath.Join(kit.Dir, adapter.Name(kit.RunID, "cri", spec.ID))
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return &engine.Error{Class: record.HarnessError, Text: "making a directory for the containers' logs", Err: err}
	}
	env.settings = settingsFor(spec, kit.RunID, handler, logs)
	var how string
	env.polled, how = howWatched(logs)
	env.add(map[string]string{"log": "cri file, followed by " + how, "init": "none", engine.HeldFact: engine.HeldByEngine})
	env.add(volumeFacts)

	image, release, err := env.engine.images.provide(ctx, s, kit, engine.ImageName(spec))
	if err != nil {
		return err
	}
	env.settings.image, env.known, env.release = image.spec, image.known, release
	return env.prove(ctx)
}

func (env *environment) add(facts map[string]string) {
	for k, v := range facts {
		if v != "" {
			env.facts[k] = v
		}
	}
}

// Facts is documented in engine.Environment.
func (env *environment) Facts() map[string]string { return maps.Clone(env.facts) }

// Run is documented in engine.Environment.
func (env *environment) Run(ctx context.Context, task engine.Task) (engine.Result, error) {
	if err := ctx.Err(); err != nil {
		return engine.Result{}, fmt.Errorf("running %s: %w", task.Name, err)
	}
	oom := wrap.HostOOMWatch()
	l, f := env.prepared(ctx, task)
	if f != nil {
		return engine.Result{Failure: f}, nil
	}
	if err := env.enter(task); err != nil {
		return engine.Result{}, err
	}
	res := env.conclude(l, oom, func() (engine.Result, bool) { return l.run(ctx) })
	err := env.strike(task)
	if ctx.Err() != nil {
		err = errors.Join(err, fmt.Errorf("running %s: %w", task.Name, ctx.Err()))
	}
	return res, err
}

// conclude judges what a life came to.
func (env *environment) conclude(l *life, oom func() bool, settled func() (engine.Result, bool)) engine.Result {
	res, left := settled()
	if left {
		env.mu.Lock()
		env.left = append(env.left, l.podName())
		env.mu.Unlock()
	}
	if res.Exit != nil && *res.Exit == 137 && l.task.Stop == nil && oom() {
		res.Failure = outOfMemory()
	}
	return res
}

func (env *environment) life(task engine.Task) *life {
	if env.most > 0 {
		task.Limit = min(task.Limit, env.most)
	}
	env.mu.Lock()
	defer env.mu.Unlock()
	return &life{s: env.s, settings: env.settings, task: task, events: env.events, polled: env.polled, look: env.look,
		volumes: &volumes{kit: env.kit, dir: filepath.Join(env.settings.logs, task.Name+"-volumes")}}
}

// ready sees to it that the server answers, over a connection that is open,
// that its events come, and that nothing of an earlier trial is left. It lies
// outside of what is measured.
func (env *environment) ready(ctx context.Context) *record.Failure {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	env.mu.Lock()
	defer env.mu.Unlock()
	if err := env.s.ping(ctx); err != nil {
		return env.s.failure("before the trial", err)
	}
	if env.events != nil && !env.events.alive() {
		e, err := env.s.listen(ctx)
		if err != nil {
			return env.s.failure("listening to the server's events", err)
		}
		env.stream, env.events = e, e
	}
	for len(env.left) > 0 {
		if err := env.removeLeft(ctx, env.left[0]); err != nil {
			return &record.Failure{Class: record.UncleanEnd, Text: fmt.Sprintf("before the trial: %v", err)}
		}
		env.left = env.left[1:]
	}
	return nil
}

func (env *environment) removeLeft(ctx context.Context, name string) error {
	if err := env.s.removePod(ctx, name); err != nil {
		return err
	}
	return env.kit.Ledger.Gone(env.s.thing(engine.KindContainer, name))
}

// closeLimit bounds Close. What was opened is undone even where the caller's
// context is over already, since it often is over after an interrupt.
const closeLimit = time.Minute

// Close is documented in engine.Environment.
func (env *environment) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeLimit)
	defer cancel()
	var errs []error
	env.closing.Do(func() {
		env.endHeld()
		for _, name := range env.left {
			errs = append(errs, env.removeLeft(ctx, name))
		}
		if env.stream != nil {
			env.stream.close()
		}
		if env.release != nil {
			errs = append(errs, env.release(ctx))
		}
		if env.settings.logs != "" {
			errs = append(errs, os.RemoveAll(env.settings.logs))
		}
		env.s.close()
	})
	return errors.Join(errs...)
}
