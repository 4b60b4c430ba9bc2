package podman

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/apirun"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// environment is Podman in one configuration.
type environment struct {
	*clirun.Base
	api      *apirun.Base
	p        *program
	settings settings
	bySteps  bool
	byAPI    bool
	rest     *rest    // for the level api
	service  *service // where it is ours
	made     sync.Map // ids that the service has given to containers, by name
	flags    []string // of the runtime

	// unreached says why no container of this environment can be reached, though
	// podman gives it an address; "" where it can.
	unreached string

	// mapped: the copy of the image for ranks of an ordinary user is there.
	mapped bool

	// look, where given, is called when a container has ended, before it is
	// removed: for the proof only.
	look func(ctx context.Context, name string) error

	closing adapter.Closing
	release []func(context.Context) error // in reverse order
}

func (e *Engine) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	for _, factor := range engine.Factors {
		if err := possible(kit, factor, spec.Level(factor)); err != nil {
			return nil, err
		}
	}
	user, werr := who(kit, spec.Level(engine.Rootless))
	if werr != nil {
		return nil, werr
	}
	p, werr := find(kit, user)
	if werr != nil {
		return nil, werr
	}
	if werr := p.unsync(spec); werr != nil {
		return nil, werr
	}
	env := &environment{p: p, bySteps: clientLevel(spec) == bySteps, byAPI: clientLevel(spec) == byAPI}
	env.api = apirun.NewBase(env, kit.Ledger)
	return adapter.Opened(ctx, env, e.open(ctx, kit, spec, env))
}

func (e *Engine) open(ctx context.Context, kit *engine.Kit, spec engine.Spec, env *environment) error {
	p := env.p
	e.holdPause(kit, p)
	env.release = append(env.release, func(ctx context.Context) error { return e.letGo(ctx, kit, p) })
	if err := p.keepPassing(kit); err != nil {
		return err
	}

	if driver := driverOf(kit, spec); driver != engine.DefaultLevel {
		if driver == btrfs && p.user != nil {
			return &engine.Error{Class: record.Unsupported,
				Text: "an ordinary user may make btrfs subvolumes and not remove them, so that podman's store would stay"}
		}
		env.release = append(env.release, func(ctx context.Context) error { return e.dropStore(ctx, kit, p) })
		if err := e.holdStore(ctx, kit, p, driver); err != nil {
			return err
		}
	}
	if err := p.understood(ctx); err != nil {
		return err
	}
	// The first command brings the pause process up, outside of any cgroup of
	// ours, in which it would stay.
	usual, err := p.info(ctx)
	if err != nil {
		return err
	}
	if name := spec.Level(engine.Runtime); name != engine.DefaultLevel {
		path, err := findRuntime(kit, name)
		if err != nil {
			return err
		}
		p.global, p.told = append(p.global, "--runtime", path), true
		for _, flag := range runtimeFlags(name, spec.Level(engine.Network), p.user != nil) {
			p.global = append(p.global, "--runtime-flag", flag)
			env.flags = append(env.flags, flag)
		}
	}
	info, err := p.info(ctx) // of the store and the runtime that were chosen
	if err != nil {
		return err
	}
	if p.unsynced {
		env.release = append(env.release, func(context.Context) error { return writeOut(info.Store.GraphRoot) })
	}
	if err := p.optioned(info); err != nil {
		return err
	}
	if err := p.helped(kit, spec, info); err != nil {
		return err
	}
	tag, release, err := e.provide(ctx, kit, p, engine.ImageName(spec))
	if err != nil {
		return err
	}
	env.release = append(env.release, release)
	daemon := "none"
	if env.byAPI {
		if daemon, err = env.connect(ctx, kit, spec.ID); err != nil {
			return err
		}
		if info, err = env.rest.info(ctx); err != nil { // of the one that answers
			return err
		}
	}
	if err := env.configure(ctx, kit, spec, info, tag); err != nil {
		return err
	}
	if p.user == nil && info.Host.CgroupManager == "cgroupfs" && !spec.Omits(engine.OwnCgroup) {
		if env.settings.group, err = e.holdGroup(kit); err != nil {
			return err
		}
		env.release = append(env.release, func(ctx context.Context) error { return e.dropGroup(ctx, kit) })
	}
	env.AddFacts(map[string]string{"daemon": daemon, "init": "none", "log": driverFor(spec.Extra()),
		engine.HeldFact: engine.HeldByEngine})
	if p.unsynced {
		env.AddFacts(map[string]string{"fsync": "answered at once, by a filter around podman and all that it starts"})
	}
	env.AddFacts(p.given.Facts(p.configuredBy(), variablesBy))
	env.AddFacts(map[string]string{"default-runtime": usual.Host.OCIRuntime.Name})
	return env.prove(ctx, kit, spec, info)
}

// runtimeFlags are what gVisor must be told. It has a network stack of its
// own, which podman does not know of: without a network there is nothing for
// it to take over, and the host's is reached only past it. As an ordinary user
// it may not make cgroups. Its platform is left to itself.
func runtimeFlags(runtime, network string, rootless bool) []string {
	if runtime != "runsc" {
		return nil
	}
	var flags []string
	if network != engine.DefaultLevel {
		flags = append(flags, "network="+network)
	}
	if rootless {
		flags = append(flags, "ignore-cgroups")
	}
	return flags
}

// configure decides who limits and starts the launcher.
func (env *environment) configure(ctx context.Context, kit *engine.Kit, spec engine.Spec, info *info, tag string) error {
	if spec.Omits(engine.OwnCgroup) && spec.Limits != (engine.Limits{}) {
		return &engine.Error{Class: record.Unsupported, Text: "no container can be limited without a control group"}
	}
	env.settings = settings{image: tag, runID: kit.RunID, limits: spec.Limits, omits: spec.Omitted(), adds: spec.Extra()}
	if l := spec.Level(engine.Network); l != engine.DefaultLevel {
		env.settings.network = l
	}
	if spec.Level(engine.Seccomp) == "off" {
		env.settings.seccomp = "off"
	}
	if env.p.user == nil {
		options, err := OwnUlimits()
		if err != nil {
			return fmt.Errorf("reading the limits of this process: %w", err)
		}
		env.settings.ulimits = options
	}
	around := !info.limits() && spec.Limits != (engine.Limits{})
	if around {
		env.settings.limits = engine.Limits{}
	}
	// No cgroup of ours can be put around what the user's own service starts, nor around
	// what systemd moves into a scope of its own.
	held := around && info.Host.CgroupManager != "systemd" && (!env.byAPI || env.service != nil)
	base, err := clirun.NewBase(ctx, kit, spec, held)
	if err != nil {
		return err
	}
	env.Base = base
	if held && env.service != nil {
		if err := env.service.enter(base.Group.Procs()); err != nil {
			return err
		}
	}
	env.AddFacts(info.facts())
	if !around {
		env.AddFacts(cgroup.ByEngineFacts(spec.Limits))
	}
	if around && !held {
		why := "podman can't limit here, and its service is not ours"
		if info.Host.CgroupManager == "systemd" {
			why = "podman has no cpu and memory controllers here, and systemd puts its containers outside of Plimsoll's group"
		}
		env.AddFacts(map[string]string{cgroup.Limits: cgroup.Nobody, cgroup.LimitsWhy: why})
	}
	if env.byAPI {
		env.AddFacts(map[string]string{"host": "unix://" + env.rest.socket, "wait-interval": fmt.Sprintf("%v, once it has run for %v at the end of its output", waitInterval, waitYoung)})
	}
	env.AddFacts(map[string]string{"cli": env.p.path, "client": clientLevel(spec), "user": env.p.who(),
		"runtime-flags": strings.Join(env.flags, " ")})
	if u := env.settings.ulimits; u != nil {
		env.AddFacts(map[string]string{"ulimits": u[1] + " " + u[3] + " (this process may not raise limits)"})
	}
	return nil
}

func (env *environment) Run(ctx context.Context, task engine.Task) (engine.Result, error) {
	if f := env.impossible(task); f != nil {
		return engine.Result{Failure: f}, nil
	}
	if env.byAPI {
		return env.api.Run(ctx, task)
	}
	return env.api.Account(ctx, task, func() (engine.Result, error) { return env.runCLI(ctx, task) })
}

// runCLI carries a life through by commands.
func (env *environment) runCLI(ctx context.Context, task engine.Task) (engine.Result, error) {
	steps, payload := env.steps(task)
	res, err := env.Base.Run(ctx, clirun.Plan{Task: task, Steps: steps, Payload: payload, Patterns: patterns, EngineStatus: engineStatus})
	res.Stdout = adapter.Plain(res.Stdout, env.settings.adds)
	after := context.WithoutCancel(ctx)
	if err != nil || res.Failure != nil {
		env.api.Clear(after, task, &res)
		return res, err
	}
	if env.look != nil { // the container was left for it
		if err := env.look(ctx, task.Name); err != nil {
			res.Failure = &record.Failure{Class: record.EngineError, Text: fmt.Sprintf("inspecting the container: %v", err)}
		}
		env.api.Clear(after, task, &res)
		return res, nil
	}
	env.api.After(after, task, &res)
	return res, nil
}

// Ping asks the API service; the command has no daemon.
func (env *environment) Ping(ctx context.Context) error {
	if !env.byAPI {
		return nil
	}
	return env.rest.answers(ctx)
}

func (env *environment) Thing(task engine.Task) *engine.Thing {
	t := env.p.thing(engine.KindContainer, task.Name)
	return &t
}

func (env *environment) Remove(ctx context.Context, task engine.Task) error {
	return env.p.removeContainer(ctx, task.Name)
}

func (env *environment) Failure(what string, err error) *record.Failure {
	e := restWrong(what, err)
	return &record.Failure{Class: e.Class, Text: e.Error() + env.lost()}
}

// Remains waits for the container's monitor, whose clean-up (`podman container
// cleanup`) runs on after `podman run` has returned and would disturb the next
// trial.
func (env *environment) Remains(ctx context.Context, task engine.Task) (bool, error) {
	id, err := env.p.ours(ctx, task.Name)
	if err != nil || id != "" {
		return err == nil, err
	}
	made, _ := env.made.LoadAndDelete(task.Name)
	id, _ = made.(string)
	env.p.endExecutions(task.Name, id)
	if !env.p.monitorGone(ctx, task.Name, id) {
		return false, &engine.Error{Class: record.UncleanEnd,
			Text: fmt.Sprintf("the monitor (conmon) of the container %s had not ended %v after its removal", task.Name, monitorLimit)}
	}
	return false, nil
}

func (env *environment) Calibrate(ctx context.Context, task engine.Task, rounds int) ([]probe.Exchange, error) {
	cmd := env.p.command(env.settings.args("run", task, "--rm", "--interactive")...)
	return env.api.Exchange(ctx, task, func() ([]probe.Exchange, error) { return env.Base.Exchange(ctx, task, cmd, rounds) })
}

func (env *environment) Close(ctx context.Context) error {
	return env.closing.Do(ctx, func(ctx context.Context) (errs []error) {
		if env.Base != nil { // what commands hold they end themselves
			errs = append(errs, env.Base.EndHeld(ctx))
		}
		errs = append(errs, env.api.Close(ctx))
		if env.rest != nil {
			env.rest.close()
		}
		if env.service != nil { // it is in the cgroup that Base removes
			errs = append(errs, env.service.close(ctx))
		}
		if env.Base != nil {
			errs = append(errs, env.Base.Close(ctx))
		}
		for _, undo := range slices.Backward(env.release) {
			errs = append(errs, undo(ctx))
		}
		return errs
	})
}
