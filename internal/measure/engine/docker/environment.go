package docker

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/moby/moby/api/types/system"
	"github.com/moby/moby/client"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/apirun"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/engine/private"
	"plimsoll/internal/record"
)

// environment is Docker in one configuration.
type environment struct {
	*apirun.Base
	kit      *engine.Kit
	spec     engine.Spec
	d        *daemon
	settings settings
	cli      *commandLine // nil where no docker program is there; always there for the level cli
	byCLI    bool

	memoryLimit bool   // the daemon can limit a container's memory
	containerd  string // the socket of the one that the daemon says it uses; "" where it says nothing

	// unreached says why no container of this environment can be reached, though
	// the daemon gives it an address; "" where it can.
	unreached string

	// look, where given, is called when a container has ended, before it is
	// removed: for the proof only.
	look    func(ctx context.Context, name string) error
	closing adapter.Closing
	release func(context.Context) error // the image
	leave   func(context.Context) error // a private daemon; nil on the user's
}

func (e *Engine) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	d, leave, err := e.reach(ctx, kit, spec)
	if err != nil {
		return nil, err
	}
	env := &environment{kit: kit, spec: spec, d: d, leave: leave, byCLI: clientLevel(spec) == byCLI}
	env.Base = apirun.NewBase(env, kit.Ledger)
	return adapter.Opened(ctx, env, e.open(ctx, env))
}

func (e *Engine) open(ctx context.Context, env *environment) error {
	d, kit, spec := env.d, env.kit, env.spec
	answer, err := d.Info(ctx, client.InfoOptions{})
	if err != nil {
		return d.wrong("asking the daemon for its state", err)
	}
	info := &answer.Info
	if c := info.Containerd; c != nil {
		env.containerd = c.Address
	}
	for _, factor := range engine.Factors {
		if err := e.offered(kit, info, factor, spec.Level(factor)); err != nil {
			return err
		}
	}
	env.AddFacts(daemonFacts(info))
	env.AddFacts(d.limitFacts(info, spec.Limits))
	env.memoryLimit = info.MemoryLimit
	if err := env.versions(ctx); err != nil {
		return err
	}

	tag, release, err := e.provide(ctx, d, kit, engine.ImageName(spec))
	if err != nil {
		return err
	}
	env.release = release
	runtime := runtimeName(info, spec.Level(engine.Runtime))
	if path := kit.Built(spec.Level(engine.Runtime)); path != "" {
		if runtime, err = d.own.bear(ctx, d, spec.Level(engine.Runtime), path); err != nil {
			return err
		}
		if answer, err = d.Info(ctx, client.InfoOptions{}); err != nil {
			return d.wrong("asking the daemon for its state", err)
		}
		info = &answer.Info
	}
	env.settings = settingsFor(spec, kit.RunID, tag, runtime)
	if env.settings.log, err = d.own.logs(spec); err != nil {
		return err
	}
	if env.Fact(cgroup.Limits) == cgroup.Nobody {
		env.settings.limits = engine.Limits{} // the daemon would refuse them
	}

	env.AddFacts(map[string]string{"log-driver": env.settings.logDriver(), "log": env.settings.logDriver()})

	env.cli, err = newCommandLine(ctx, kit, spec, d)
	if err != nil {
		var e *engine.Error
		if env.byCLI || !errors.As(err, &e) || e.Class != record.Unavailable {
			return err
		}
		env.cli = nil // the API needs none, but for the clock exchange
	}
	if env.cli != nil {
		env.AddFacts(env.cli.facts(ctx))
	}
	if err := env.prove(ctx, info, runtime); err != nil {
		return err
	}
	if level := spec.Level(engine.Runtime); kit.Built(level) != "" {
		env.AddFacts(map[string]string{"runtime": level}) // and not the name that tells builds apart
	}
	return nil
}

// versions adds what the daemon and its parts are.
func (env *environment) versions(ctx context.Context) error {
	v, err := env.d.ServerVersion(ctx, client.ServerVersionOptions{})
	if err != nil {
		return env.d.wrong("asking the "+env.d.flavour.name+" daemon for its version", err)
	}
	env.AddFacts(map[string]string{
		"version": v.Version, "api-version": env.d.ClientVersion(), "api-version-daemon": v.APIVersion,
		"host": env.d.host, "init": "none", "daemon": private.UserFact,
		engine.HeldFact: engine.HeldByEngine,
	})
	if env.d.own != nil {
		env.AddFacts(env.d.own.facts())
	}
	env.AddFacts(map[string]string{"user": ownerOf(strings.TrimPrefix(env.d.host, "unix://"))})
	for _, c := range v.Components {
		if c.Name == "containerd" {
			env.AddFacts(map[string]string{"containerd": c.Version})
		}
	}
	if env.byCLI {
		env.AddFacts(map[string]string{"client": byCLI})
	} else {
		env.AddFacts(map[string]string{"client": byAPI, "client-library": adapter.Library("github.com/moby/moby/client")})
	}
	return nil
}

func (env *environment) Run(ctx context.Context, task engine.Task) (engine.Result, error) {
	if f := env.impossible(task); f != nil {
		return engine.Result{Failure: f}, nil
	}
	if env.byCLI {
		return env.Account(ctx, task, func() (engine.Result, error) { return env.runCLI(ctx, task, time.Now()) })
	}
	return env.Base.Run(ctx, task)
}

func (env *environment) Hold(ctx context.Context, task engine.Task) (engine.Held, error) {
	if f := env.impossible(task); f != nil {
		return nil, apirun.Refusal(task, f)
	}
	if env.byCLI {
		return env.holdCLI(ctx, task, time.Now())
	}
	return env.Base.Hold(ctx, task)
}

func (env *environment) Ping(ctx context.Context) error { return env.d.ping(ctx) }

func (env *environment) Thing(task engine.Task) *engine.Thing {
	if env.d.own != nil { // what a private daemon holds goes with it
		return nil
	}
	t := env.d.thing(engine.KindContainer, task.Name)
	return &t
}

func (env *environment) Remove(ctx context.Context, task engine.Task) error {
	return env.d.removeSurely(ctx, task.Name, env.settings.image)
}

func (env *environment) Failure(what string, err error) *record.Failure {
	return env.d.failure(what, err)
}

// Remains counts the container's volumes as part of it.
func (env *environment) Remains(ctx context.Context, task engine.Task) (bool, error) {
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

func (env *environment) Close(ctx context.Context) error {
	return env.closing.Do(ctx, func(ctx context.Context) (errs []error) {
		if env.cli != nil { // what it holds it ends itself
			errs = append(errs, env.cli.close(ctx))
		}
		errs = append(errs, env.Base.Close(ctx))
		if env.release != nil {
			errs = append(errs, env.release(ctx))
		}
		return append(errs, env.d.Close())
	}, env.leave)
}

// limitFacts say who limits. A rootless daemon on cgroup v1 can't, and no
// cgroup of ours can be put around what another process starts.
func (d *daemon) limitFacts(info *system.Info, limits engine.Limits) map[string]string {
	if (limits.CPUs > 0 && !info.CPUCfsQuota) || (limits.MemoryBytes > 0 && !info.MemoryLimit) {
		return map[string]string{cgroup.Limits: cgroup.Nobody, cgroup.LimitsWhy: "the " + d.flavour.name + " daemon says that it can't limit (cgroup driver " + info.CgroupDriver + ")"}
	}
	return cgroup.ByEngineFacts(limits)
}

// LimitsMemory returns what the daemon reports.
func (env *environment) LimitsMemory() bool { return env.memoryLimit }
