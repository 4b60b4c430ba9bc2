package containerd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	runc "github.com/containerd/containerd/api/types/runc/options"
	runtimeoptions "github.com/containerd/containerd/api/types/runtimeoptions/v1"
	"github.com/containerd/containerd/v2/client"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/cni"
	"plimsoll/internal/measure/engine/private"
	"plimsoll/internal/measure/engine/wrap"
	"plimsoll/internal/record"
)

// environment is containerd in one configuration.
type environment struct {
	kit      *engine.Kit
	spec     engine.Spec
	d        *daemon
	runtime  ociRuntime
	settings settings
	oom      *oomWatch
	cli      *commandLine // of the level cli only
	facts    map[string]string

	// look, where given, is called when a container has ended, before it is
	// removed: for the proof only.
	look    func(ctx context.Context, c client.Container) error
	network *cni.Network // where containers get an address
	// left are containers that could not be removed, since the daemon had
	// gone; they are removed before the next trial.
	mu      sync.Mutex
	left    []string
	holding map[*held]bool

	pulls   []string // images that were pulled, and not dropped
	pulling bool     // there is a namespace for them
	closing sync.Once
	release []func(context.Context) error // in reverse order
}

// Open is documented in engine.Engine.
func (e *Engine) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	env := &environment{kit: kit, spec: spec, facts: map[string]string{}, holding: map[*held]bool{}}
	if err := e.open(ctx, env); err != nil {
		return nil, errors.Join(err, env.Close(context.WithoutCancel(ctx)))
	}
	return env, nil
}

func (e *Engine) open(ctx context.Context, env *environment) error {
	kit, spec := env.kit, env.spec
	det := e.Detect(ctx, kit)
	if !det.Usable {
		return &engine.Error{Class: record.Unavailable, Text: det.Reason, Fix: det.Fix}
	}
	if err := engine.Refuse(e.Info(), det, spec); err != nil {
		return err
	}
	var err error
	if env.runtime, err = chooseRuntime(kit, spec.Level(engine.Runtime)); err != nil {
		return err
	}
	if err := e.connect(ctx, env); err != nil {
		return err
	}
	if err := e.join(ctx, env); err != nil {
		return err
	}
	options, err := env.runtime.options(kit, spec)
	if err != nil {
		return err
	}
	d := env.d
	img, release, err := e.images.provide(ctx, d, kit, engine.ImageName(spec), storage(spec))
	if err != nil {
		return err
	}
	env.release = append(env.release, release)
	config, err := img.Spec(ctx)
	if err != nil {
		return d.wrong("reading the image's configuration", err)
	}
	env.settings = settings{
		image: img, imageEnv: config.Config.Env, snapshotter: storage(spec), runID: kit.RunID,
		shim: env.runtime.shim, options: options, hostNet: hostNetwork(spec),
		seccompOff: spec.Level(engine.Seccomp) == "off", systemd: spec.Level(engine.Driver) == "systemd",
		cgroupNS: cgroupNamespaces(), swapToo: limitsSwap(), limits: spec.Limits,
	}
	switch o := options.(type) {
	case *runc.Options:
		env.settings.program = o.BinaryName
	case *runtimeoptions.Options:
		env.settings.config = o.ConfigPath
	}
	env.add(limitFacts(spec.Limits))
	env.oom = watchOOM(d)
	env.release = append(env.release, env.oom.close)
	if spec.Level(engine.Client) == byCLI {
		if env.cli, err = newCommandLine(ctx, kit, spec, d); err != nil {
			return err
		}
		env.release = append(env.release, env.cli.Close)
	}
	return env.prove(ctx)
}

// connect takes the user's daemon, or a private one where that lacks the
// snapshotter.
func (e *Engine) connect(ctx context.Context, env *environment) error {
	kit, storage := env.kit, storage(env.spec)
	d, version, err := connect(ctx, kit)
	if err != nil {
		return err
	}
	plugins, err := d.plugins(ctx)
	if err != nil {
		return errors.Join(d.wrong("asking for the snapshotters", err), d.Close())
	}
	whose := private.UserFact
	if plugins.lacks(storage) != "" {
		if err := errors.Join(d.Close(), private.HostNetwork(env.spec)); err != nil {
			return err
		}
		own, release, err := e.own.Get(ctx, kit.RunID+" "+storage, func(ctx context.Context) (*ownDaemon, func(context.Context) error, error) {
			return start(ctx, kit, storage)
		})
		if err != nil {
			return err
		}
		env.release = append(env.release, release)
		if d, version, err = dial(ctx, kit, own.socket); err != nil {
			return err
		}
		d.state, d.own, whose = own.state, own.Daemon, private.Fact
	}
	env.d = d
	env.release = append(env.release, func(context.Context) error { return d.Close() })
	env.add(map[string]string{"version": version, "host": d.socket, "daemon": whose})
	return nil
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
	if f := env.ready(ctx); f != nil {
		return engine.Result{Failure: f}, nil
	}
	if f := env.taken(task.Name); f != nil {
		return engine.Result{Failure: f}, nil
	}
	if err := env.enter(task.Name); err != nil {
		return engine.Result{}, err
	}
	var res engine.Result
	var err error
	if env.cli != nil {
		res, err = env.runCLI(ctx, task)
	} else if l, f := env.life(task); f != nil {
		res.Failure = f
	} else {
		l.look = env.look
		res = env.live(ctx, l)
	}
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("running %s: %w", task.Name, ctx.Err())
	}
	return res, errors.Join(err, env.strike(task.Name))
}

// thing is what the ledger says of a container. What a private daemon holds
// goes with it, but not the control groups of its containers, which lie at the
// top: they are found by the container's name, and no engine need be asked.
func (env *environment) thing(name string) engine.Thing {
	if env.d.own != nil {
		return engine.Thing{Kind: engine.KindContainer, Name: name}
	}
	return env.d.thing(engine.KindContainer, name)
}

// taken: a container's control group, at the top, must not be there yet. It
// would be somebody else's, and would be removed as if it were ours.
func (env *environment) taken(name string) *record.Failure {
	if env.settings.systemd {
		return nil
	}
	err := wrap.Vacant(name)
	if err == nil {
		return nil
	}
	return &record.Failure{Class: record.HarnessError, Text: err.Error()}
}

// enter tells the ledger of a container before its request, and strike that it
// is gone, unless it is still to be removed.
func (env *environment) enter(name string) error { return env.kit.Ledger.Made(env.thing(name)) }

func (env *environment) strike(name string) error {
	env.mu.Lock()
	defer env.mu.Unlock()
	if slices.Contains(env.left, name) {
		return nil
	}
	return env.kit.Ledger.Gone(env.thing(name))
}

// life prepares a container's life; the failure says what can't be had.
func (env *environment) life(task engine.Task) (*life, *record.Failure) {
	if f := refuseMounts(task.Mounts); f != nil {
		return nil, f
	}
	l := &life{d: env.d, kit: env.kit, settings: &env.settings, task: task, network: env.network}
	if env.settings.hostNet {
		l.address = "127.0.0.1"
	}
	if task.Beside == nil {
		return l, nil
	}
	var beside *life
	pid := task.Beside.Place().PID
	switch h := task.Beside.(type) {
	case *held:
		beside = h.l
	case *heldCLI:
		beside = h.l
	}
	switch {
	case env.runtime.foreign:
		return nil, &record.Failure{Class: record.Unsupported,
			Text: "a sandbox with a network stack of its own (gVisor, Kata) can't be shared by two containers of containerd: pods are the CRI's"}
	case beside == nil || beside.settings != &env.settings:
		return nil, &record.Failure{Class: record.HarnessError, Text: "beside a container of another environment"}
	case env.settings.hostNet: // it is shared already
	case pid == 0:
		return nil, &record.Failure{Class: record.HarnessError, Text: "the payload of the container to be beside was not found"}
	default:
		l.network, l.address, l.join = nil, beside.address, fmt.Sprintf("/proc/%d/ns/net", pid)
	}
	return l, nil
}

// live carries a life out and judges it.
func (env *environment) live(ctx context.Context, l *life) engine.Result {
	return env.account(ctx, l, l.run)
}

// conclude judges a life of which err came.
func (env *environment) conclude(ctx context.Context, l *life, err error) engine.Result {
	return env.account(ctx, l, func(ctx context.Context) (engine.Result, bool) { return l.settle(ctx, err) })
}

func (env *environment) account(ctx context.Context, l *life, settled func(context.Context) (engine.Result, bool)) engine.Result {
	res, left := settled(ctx)
	if left {
		env.keep(l.task.Name)
	}
	if res.Exit != nil && *res.Exit == 128+9 && l.task.Stop == nil && env.oom.killed(ctx, l.task.Name) {
		res.Failure = &record.Failure{Class: record.OutOfMemory, Text: "the kernel killed the payload for want of memory"}
		return res
	}
	if res.Failure != nil {
		return res
	}
	if res.Exit != nil {
		res.Failure = adapter.SignalFailure(*res.Exit, l.task.Stop != nil)
	}
	env.settle(ctx, l.task.Name, &res)
	return res
}

// ready sees to it that the daemon answers, over a connection that is open,
// and that nothing of an earlier trial is left. It lies outside of what is
// measured.
func (env *environment) ready(ctx context.Context) *record.Failure {
	ctx, cancel := context.WithTimeout(ctx, removeLimit)
	defer cancel()
	if err := env.d.ping(ctx); err != nil {
		return env.d.failure("before the trial", err)
	}
	if err := env.removeLeft(ctx); err != nil {
		return &record.Failure{Class: record.UncleanEnd, Text: fmt.Sprintf("before the trial: %v", err)}
	}
	return nil
}

func (env *environment) keep(name string) {
	env.mu.Lock()
	defer env.mu.Unlock()
	env.left = append(env.left, name)
}

func (env *environment) removeLeft(ctx context.Context) error {
	env.mu.Lock()
	defer env.mu.Unlock()
	for len(env.left) > 0 {
		if err := env.d.remove(ctx, env.left[0]); err != nil {
			return err
		}
		if err := env.kit.Ledger.Gone(env.thing(env.left[0])); err != nil {
			return err
		}
		env.left = env.left[1:]
	}
	return nil
}

// settle looks after a trial whether the container is gone.
func (env *environment) settle(ctx context.Context, name string, res *engine.Result) {
	there, err := env.d.exists(ctx, name)
	switch {
	case err != nil && res.Failure == nil:
		res.Failure = env.d.failure("after the trial", err)
		env.keep(name)
	case there:
		if res.Failure == nil {
			res.Failure = &record.Failure{Class: record.UncleanEnd,
				Text: fmt.Sprintf("the container %s was still there after its removal had returned", name)}
		}
		if env.d.remove(context.WithoutCancel(ctx), name) != nil {
			env.keep(name)
		}
	}
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
		env.endHeld(ctx)
		errs = append(errs, env.removeLeft(ctx))
		for _, ref := range slices.Clone(env.pulls) {
			errs = append(errs, env.Drop(ctx, ref))
		}
		if env.pulling {
			errs = append(errs, env.d.removeNamespace(ctx, env.kit.Ledger, pullNamespace(env.kit.RunID)))
		}
		for i := len(env.release) - 1; i >= 0; i-- {
			errs = append(errs, env.release[i](ctx))
		}
	})
	return errors.Join(errs...)
}
