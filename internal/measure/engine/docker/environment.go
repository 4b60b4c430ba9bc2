package docker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/moby/moby/api/types/system"
	"github.com/moby/moby/client"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/private"
	"plimsoll/internal/measure/engine/wrap"
	"plimsoll/internal/record"
)

// environment is Docker in one configuration.
type environment struct {
	kit      *engine.Kit
	spec     engine.Spec
	d        *daemon
	settings settings
	cli      *commandLine // nil where no docker program is there; always there for the level cli
	byCLI    bool
	facts    map[string]string

	// unreached says why no container of this environment can be reached, though
	// the daemon gives it an address; "" where it can.
	unreached string

	// look, where given, is called when a container has ended, before it is
	// removed: for the proof only.
	look func(ctx context.Context, name string) error
	// left are containers that could not be removed, since the daemon had
	// gone; they are removed before the next trial.
	mu   sync.Mutex
	left []string

	closing sync.Once
	release func(context.Context) error // the image
	leave   func(context.Context) error // a private daemon; nil on the user's
}

// Open is documented in engine.Engine.
func (e *Engine) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	d, leave, err := e.reach(ctx, kit, spec)
	if err != nil {
		return nil, err
	}
	env := &environment{kit: kit, spec: spec, d: d, leave: leave, byCLI: clientLevel(spec) == byCLI, facts: map[string]string{}}
	if err := e.open(ctx, env); err != nil {
		return nil, errors.Join(err, env.Close(context.WithoutCancel(ctx)))
	}
	return env, nil
}

func (e *Engine) open(ctx context.Context, env *environment) error {
	d, kit, spec := env.d, env.kit, env.spec
	answer, err := d.Info(ctx, client.InfoOptions{})
	if err != nil {
		return d.wrong("asking the daemon for its state", err)
	}
	info := &answer.Info
	for _, factor := range engine.Factors {
		if err := e.offered(kit, info, factor, spec.Level(factor)); err != nil {
			return err
		}
	}
	env.add(daemonFacts(info))
	env.add(d.limitFacts(info, spec.Limits))
	if err := env.versions(ctx); err != nil {
		return err
	}

	tag, release, err := e.images.provide(ctx, d, kit, engine.ImageName(spec))
	if err != nil {
		return err
	}
	env.release = release
	runtime := runtimeName(info, spec.Level(engine.Runtime))
	env.settings = settingsFor(spec, kit.RunID, tag, runtime)
	if env.facts[wrap.Limits] == wrap.Nobody {
		env.settings.limits = engine.Limits{} // the daemon would refuse them
	}

	env.cli, err = newCommandLine(ctx, kit, spec, d)
	if err != nil {
		var e *engine.Error
		if env.byCLI || !errors.As(err, &e) || e.Class != record.Unavailable {
			return err
		}
		env.cli = nil // the API needs none, but for the clock exchange
	}
	if env.cli != nil {
		env.add(env.cli.facts(ctx))
	}
	return env.prove(ctx, info, runtime)
}

// versions adds what the daemon and its parts are.
func (env *environment) versions(ctx context.Context) error {
	v, err := env.d.ServerVersion(ctx, client.ServerVersionOptions{})
	if err != nil {
		return env.d.wrong("asking the "+env.d.flavour.name+" daemon for its version", err)
	}
	env.add(map[string]string{
		"version": v.Version, "api-version": env.d.ClientVersion(), "api-version-daemon": v.APIVersion,
		"host": env.d.host, "log-driver": logDriver, "log": logDriver, "init": "none", "daemon": private.UserFact,
		engine.HeldFact: engine.HeldByEngine,
	})
	if env.d.own != nil {
		env.add(env.d.own.facts())
	}
	env.add(map[string]string{"user": ownerOf(strings.TrimPrefix(env.d.host, "unix://"))})
	for _, c := range v.Components {
		if c.Name == "containerd" {
			env.add(map[string]string{"containerd": c.Version})
		}
	}
	if env.byCLI {
		env.add(map[string]string{"client": byCLI})
	} else {
		env.add(map[string]string{"client": byAPI, "client-library": clientLibrary()})
	}
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
	if f := env.before(ctx, task); f != nil {
		return engine.Result{Failure: f}, nil
	}
	if err := env.enter(task.Name); err != nil {
		return engine.Result{}, err
	}
	began := time.Now()
	var res engine.Result
	var err error
	if env.byCLI {
		res, err = env.runCLI(ctx, task, began)
	} else {
		res = env.runAPI(ctx, task, began)
	}
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("running %s: %w", task.Name, ctx.Err())
	}
	return res, errors.Join(err, env.strike(task.Name))
}

// enter tells the ledger of a container before its request, and strike that it
// is gone, unless it is still to be removed.
func (env *environment) enter(name string) error {
	return env.d.enter(env.kit.Ledger, engine.KindContainer, name)
}

func (env *environment) strike(name string) error {
	env.mu.Lock()
	defer env.mu.Unlock()
	if slices.Contains(env.left, name) {
		return nil
	}
	return env.d.strike(env.kit.Ledger, engine.KindContainer, name)
}

// before sees to it that the task is possible, that the daemon answers, over a
// connection that is open, and that nothing of an earlier trial is left. It
// lies outside of what is measured.
func (env *environment) before(ctx context.Context, task engine.Task) *record.Failure {
	if f := env.impossible(task); f != nil {
		return f
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := env.d.ping(ctx); err != nil {
		return env.d.failure("before the trial", err)
	}
	env.mu.Lock()
	left := env.left
	env.left = nil
	env.mu.Unlock()
	for i, name := range left {
		err := env.d.removeContainer(ctx, name)
		if err == nil {
			err = env.strike(name)
		}
		if err != nil {
			env.later(left[i:]...)
			return &record.Failure{Class: record.UncleanEnd, Text: fmt.Sprintf("before the trial: %v", err)}
		}
	}
	return nil
}

// later notes containers that are still to be removed.
func (env *environment) later(names ...string) {
	env.mu.Lock()
	defer env.mu.Unlock()
	env.left = append(env.left, names...)
}

func (env *environment) runAPI(ctx context.Context, task engine.Task, began time.Time) engine.Result {
	l := &life{d: env.d, task: task, create: env.settings.options(task), look: env.look}
	res, left := l.run(ctx)
	if left {
		env.later(task.Name)
	}
	if res.Failure != nil {
		return res
	}
	if res.Exit != nil {
		res.Failure = adapter.SignalFailure(*res.Exit, task.Stop != nil)
	}
	env.settle(ctx, task, &res, began)
	return res
}

// settle is what is looked at after a trial: that a killed payload was not
// killed for want of memory, and that the container is gone.
func (env *environment) settle(ctx context.Context, task engine.Task, res *engine.Result, began time.Time) {
	if res.Exit != nil && *res.Exit == 137 && env.d.oomKilled(ctx, task.Name, began) {
		res.Failure = outOfMemory()
	}
	there, err := env.still(ctx, task)
	switch {
	case err != nil && res.Failure == nil:
		res.Failure = env.d.failure("after the trial", err)
		env.later(task.Name)
	case there:
		if res.Failure == nil {
			res.Failure = &record.Failure{Class: record.UncleanEnd,
				Text: fmt.Sprintf("the container %s was still there after its removal had returned", task.Name)}
		}
		if env.d.removeContainer(ctx, task.Name) != nil {
			env.later(task.Name)
		}
	}
}

// still says whether a task's container is there, or a volume of it.
func (env *environment) still(ctx context.Context, task engine.Task) (bool, error) {
	id, err := env.d.ours(ctx, task.Name)
	if err != nil || id != "" {
		return err == nil, err
	}
	if !slices.ContainsFunc(task.Mounts, func(m engine.Mount) bool { return m.Kind == engine.Volume }) {
		return false, nil
	}
	volumes, err := env.d.volumesOf(ctx, task.Name)
	return len(volumes) > 0, err
}

func outOfMemory() *record.Failure {
	return &record.Failure{Class: record.OutOfMemory, Text: "the kernel killed the payload for want of memory"}
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
		left := env.left
		env.left = nil
		for _, name := range left {
			err := env.d.removeContainer(ctx, name)
			if err == nil {
				err = env.strike(name)
			}
			errs = append(errs, err)
		}
		if env.release != nil {
			errs = append(errs, env.release(ctx))
		}
		if env.cli != nil {
			errs = append(errs, env.cli.close(ctx))
		}
		errs = append(errs, env.d.Close())
	})
	if env.leave != nil { // may be tried again where it fails
		errs = append(errs, env.leave(ctx))
	}
	return errors.Join(errs...)
}

// limitFacts say who limits. A rootless daemon on cgroup v1 can't, and no
// cgroup of ours can be put around what another process starts.
func (d *daemon) limitFacts(info *system.Info, limits engine.Limits) map[string]string {
	if limits == (engine.Limits{}) {
		return map[string]string{wrap.Limits: wrap.Nobody, wrap.LimitsWhy: "none were asked for"}
	}
	if (limits.CPUs > 0 && !info.CPUCfsQuota) || (limits.MemoryBytes > 0 && !info.MemoryLimit) {
		return map[string]string{wrap.Limits: wrap.Nobody, wrap.LimitsWhy: "the " + d.flavour.name + " daemon says that it can't limit (cgroup driver " + info.CgroupDriver + ")"}
	}
	return map[string]string{wrap.Limits: wrap.ByEngine}
}
