package cri

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/apirun"
	"plimsoll/internal/measure/engine/buildconfig"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/engine/private"
	"plimsoll/internal/record"
)

// environment is a CRI server in one configuration.
type environment struct {
	*apirun.Base
	engine   *Engine
	kit      *engine.Kit
	spec     engine.Spec
	s        *server
	state    *state
	settings settings

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
	mu   sync.Mutex // of the stream

	closing adapter.Closing
	known   known
	release func(context.Context) error // the image
	leave   func(context.Context) error // a private server; nil on the user's
}

var (
	_ engine.Environment = (*environment)(nil)
	_ engine.Puller      = (*environment)(nil)
	_ engine.Holder      = (*environment)(nil)
	_ engine.Daemons     = (*environment)(nil)
)

func (e *Engine) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	level := spec.Level(engine.Endpoint)
	if level == engine.DefaultLevel && (kit.BuildOf(crio) != nil || kit.BuildOf(conmon) != nil) {
		level = crio
	}
	s, err := e.connect(ctx, kit, level)
	if err != nil {
		return nil, err
	}
	var leave func(context.Context) error
	kind := endpointOf(s.version.GetRuntimeName())
	set, path, err := private.Set(kit, setOf(kind)...)
	err = errors.Join(err, foreign(kit, kind))
	if err != nil {
		s.close()
		return nil, err
	}
	if kit.Built(spec.Level(engine.Runtime)) != "" || set != "" || kit.Spans != nil {
		own, l, err := e.privately(ctx, kit, s, spec, set, path)
		s.close()
		if err != nil {
			return nil, err
		}
		s, leave = own, l
	}
	env := &environment{engine: e, kit: kit, spec: spec, s: s, leave: leave}
	env.Base = apirun.NewBase(env, kit.Ledger)
	return adapter.Opened(ctx, env, env.open(ctx))
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
	runtime := spec.Level(engine.Runtime)
	handler := handlerOf(runtime, kit.Built(runtime))
	if kit.Built(runtime) == "" {
		if handler, err = st.handlerFor(runtime); err != nil {
			return err
		}
	}
	env.AddFacts(s.facts(st))
	if spec.Level(engine.Network) == "host" {
		env.AddFacts(map[string]string{"network-by": ""})
	}
	env.AddFacts(cgroup.ByEngineFacts(spec.Limits))
	logs := filepath.Join(kit.Dir, adapter.Name(kit.RunID, "cri", spec.ID))
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return &engine.Error{Class: record.HarnessError, Text: "making a directory for the containers' logs", Err: err}
	}
	env.settings = settingsFor(spec, kit.RunID, handler, logs)
	if s.own != nil {
		env.settings.group = "/" + s.own.group
		env.AddFacts(s.own.given.Facts(s.own.configuredBy, buildconfig.ByProcess))
		env.AddFacts(kit.Spans.Facts())
	}
	var how string
	env.polled, how = howWatched(logs)
	env.AddFacts(map[string]string{"log": "cri file, followed by " + how, "init": "none", engine.HeldFact: engine.HeldByEngine})
	env.AddFacts(volumeFacts)

	image, release, err := env.engine.provide(ctx, s, kit, engine.ImageName(spec))
	if err != nil {
		return err
	}
	env.settings.image, env.known, env.release = image.spec, image.known, release
	return env.prove(ctx)
}

func (env *environment) Daemons(context.Context) (sockets []string, pids []int) {
	return []string{env.s.path}, nil
}

// Ping also listens to the server's events again if that stream has ended.
func (env *environment) Ping(ctx context.Context) error {
	env.mu.Lock()
	defer env.mu.Unlock()
	if err := env.s.ping(ctx); err != nil {
		return err
	}
	if env.events == nil || env.events.alive() {
		return nil
	}
	e, err := env.s.listen(ctx)
	if err != nil {
		return env.s.wrong("listening to the server's events", err)
	}
	env.stream, env.events = e, e
	return nil
}

// Thing is the pod, which has the name of its first container; the other
// containers go with it.
func (env *environment) Thing(task engine.Task) *engine.Thing {
	if task.Beside != nil || env.s.own != nil { // what a private server holds goes with it
		return nil
	}
	t := env.s.thing(engine.KindContainer, task.Name)
	return &t
}

func (env *environment) Prepare(_ context.Context, task engine.Task) (apirun.Container, *record.Failure) {
	l, err := env.life(task)
	if err != nil {
		return nil, &record.Failure{Class: record.HarnessError, Text: err.Error()}
	}
	return l, nil
}

func (env *environment) life(task engine.Task) (*life, error) {
	if env.most > 0 {
		task.Limit = min(task.Limit, env.most)
	}
	env.mu.Lock()
	defer env.mu.Unlock()
	l := &life{Life: apirun.NewLife(task), env: env, s: env.s, events: env.events, oom: cgroup.HostOOMWatch(),
		volumes: &volumes{kit: env.kit, dir: filepath.Join(env.settings.logs, task.Name+"-volumes")}}
	l.Late = lateOutput
	if task.Beside != nil {
		if l.beside = lifeOf(task.Beside); l.beside == nil || l.beside.env != env {
			return nil, errors.New("sharing namespaces with a container of another environment")
		}
	}
	return l, l.begin()
}

// lifeOf is that of a held container; nil where it is another engine's.
func lifeOf(h engine.Held) *life {
	held, ok := h.(*apirun.Held)
	if !ok {
		return nil
	}
	l, _ := held.Container().(*life)
	return l
}

func (env *environment) Remove(ctx context.Context, task engine.Task) error {
	if task.Beside != nil {
		return env.s.removeFromPod(ctx, lifeOf(task.Beside).pod, task.Name)
	}
	return env.s.removePod(ctx, task.Name)
}

func (env *environment) Failure(what string, err error) *record.Failure {
	return env.s.failure(what, err)
}

func (env *environment) Close(ctx context.Context) error {
	return env.closing.Do(ctx, func(ctx context.Context) (errs []error) {
		errs = append(errs, env.Base.Close(ctx))
		if env.stream != nil {
			env.stream.close()
		}
		if env.release != nil {
			errs = append(errs, env.release(ctx))
		}
		if env.settings.logs != "" {
			errs = append(errs, safepath.RemoveAll(env.settings.logs))
		}
		env.s.close()
		return errs
	}, env.leave)
}
