package containerd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	runc "github.com/containerd/containerd/api/types/runc/options"
	runtimeoptions "github.com/containerd/containerd/api/types/runtimeoptions/v1"
	"github.com/containerd/containerd/v2/client"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/apirun"
	"plimsoll/internal/measure/engine/buildconfig"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/engine/cni"
	"plimsoll/internal/measure/engine/containerdclient"
	"plimsoll/internal/measure/engine/private"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// environment is containerd in one configuration.
type environment struct {
	*apirun.Base
	kit      *engine.Kit
	spec     engine.Spec
	d        *daemon
	trials   *client.Client // makes the containers
	runtime  ociRuntime
	settings settings
	oom      *oomWatch
	cli      *commandLine // of the level cli only

	// look, where given, is called when a container has ended, before it is
	// removed: for the proof only.
	look    func(ctx context.Context, c client.Container) error
	network *cni.Network // where containers get an address

	pulls   []string // images that were pulled, and not dropped
	pulling bool     // there is a namespace for them
	closing adapter.Closing
	release []func(context.Context) error // in reverse order
}

func (e *Engine) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	env := &environment{kit: kit, spec: spec}
	env.Base = apirun.NewBase(env, kit.Ledger)
	return adapter.Opened(ctx, env, e.open(ctx, env))
}

func (e *Engine) open(ctx context.Context, env *environment) error {
	kit, spec := env.kit, env.spec
	det := e.Detect(ctx, kit)
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
	img, release, err := e.provide(ctx, d, kit, engine.ImageName(spec), storage(spec))
	if err != nil {
		return err
	}
	env.release = append(env.release, release)
	env.trials = d.Client
	if spec.Adds(engine.Volatile) {
		if env.trials, err = d.withVolatile(storage(spec)); err != nil {
			return err
		}
	}
	config, err := img.Spec(ctx)
	if err != nil {
		return d.wrong("reading the image's configuration", err)
	}
	env.settings = settings{
		image: img, imageEnv: config.Config.Env, snapshotter: storage(spec), runID: kit.RunID,
		shim: env.runtime.shim, options: options, hostNet: hostNetwork(spec),
		seccompOff: spec.Level(engine.Seccomp) == "off", systemd: spec.Level(engine.Driver) == "systemd",
		cgroupNS: cgroupNamespaces(), swapToo: limitsSwap(), limits: spec.Limits, omits: spec.Omitted(), adds: spec.Extra(),
	}
	switch o := options.(type) {
	case *runc.Options:
		o.NoPivotRoot, o.NoNewKeyring = spec.Omits(engine.PivotRoot), spec.Omits(engine.Keyring)
		env.settings.program = o.BinaryName
	case *runtimeoptions.Options:
		env.settings.config = o.ConfigPath
	}
	env.AddFacts(cgroup.ByEngineFacts(spec.Limits))
	env.oom = watchOOM(d)
	env.release = append(env.release, env.oom.close)
	if spec.Level(engine.Client) == byCLI {
		if env.cli, err = newCommandLine(ctx, kit, spec, d); err != nil {
			return err
		}
	}
	return env.prove(ctx)
}

// connect takes the user's daemon, or a private one where that lacks the
// snapshotter, or where one is asked for.
func (e *Engine) connect(ctx context.Context, env *environment) error {
	kit, storage := env.kit, storage(env.spec)
	set, path, err := private.Set(kit, daemonProgram, shimProgram)
	if err != nil {
		return err
	}
	whose := private.UserFact
	var d *daemon
	var version string
	unsynced := env.spec.Omits(engine.Durability)
	// The user's daemon is none of builds, and is not traced.
	lacks := set != "" || unsynced || env.spec.Adds(engine.OwnDaemon) || kit.Spans != nil
	if !lacks {
		if d, version, err = connect(ctx, kit); err != nil {
			return err
		}
		plugins, err := d.plugins(ctx)
		if err != nil {
			return errors.Join(d.wrong("asking for the snapshotters", err), d.Close())
		}
		if lacks = plugins.lacks(storage) != ""; lacks {
			err = d.Close()
		}
		if err != nil {
			return err
		}
	}
	if lacks {
		if no := private.Joined(kit, daemonProgram); no != nil {
			return no
		}
		if err := private.HostNetwork(env.spec); err != nil {
			return err
		}
		own, release, err := e.own.Get(ctx, fmt.Sprint(kit.RunID, " ", storage, " ", set, " ", unsynced), func(ctx context.Context) (*ownDaemon, func(context.Context) error, error) {
			return start(ctx, kit, storage, set, path, unsynced)
		})
		if err != nil {
			return err
		}
		env.release = append(env.release, release)
		if d, version, err = dial(ctx, kit, own.socket); err != nil {
			return err
		}
		d.state, d.own, d.given, whose = own.state, own.Daemon, own.given, private.Fact
		env.AddFacts(own.given.Facts(containerdclient.ConfiguredBy, buildconfig.ByProcess))
		if unsynced {
			env.AddFacts(map[string]string{"fsync": private.UnsyncedFact})
		}
		env.AddFacts(kit.Spans.Facts())
	}
	env.d = d
	env.release = append(env.release, func(context.Context) error { return d.Close() })
	env.AddFacts(map[string]string{"version": version, "host": d.socket, "daemon": whose})
	return nil
}

func (env *environment) Run(ctx context.Context, task engine.Task) (engine.Result, error) {
	if env.cli == nil {
		return env.Base.Run(ctx, task)
	}
	l, f := env.life(task)
	if f != nil {
		return engine.Result{Failure: f}, nil
	}
	return env.Account(ctx, task, func() (engine.Result, error) { return env.runCLI(ctx, task, l.join) })
}

func (env *environment) Hold(ctx context.Context, task engine.Task) (engine.Held, error) {
	if env.cli == nil {
		return env.Base.Hold(ctx, task)
	}
	return env.holdCLI(ctx, task)
}

func (env *environment) Daemons(context.Context) (sockets []string, pids []int) {
	return []string{env.d.socket}, nil
}

func (env *environment) Residents() (map[string]int, error) {
	if socket := env.kit.Joined(daemonProgram); socket != "" {
		pid, err := proc.Here.Behind(socket)
		return map[string]int{daemonProgram: pid}, err
	}
	if env.d.own == nil {
		return nil, nil
	}
	return map[string]int{daemonProgram: env.d.own.PID}, nil
}

func (env *environment) Ping(ctx context.Context) error { return env.d.ping(ctx) }

// Thing needs no engine to be removed: what a private daemon holds goes with it,
// except the control groups of its containers, which lie at the top and are found
// by the container's name.
func (env *environment) Thing(task engine.Task) *engine.Thing {
	t := engine.Thing{Kind: engine.KindContainer, Name: task.Name}
	if env.d.own == nil {
		t = env.d.thing(engine.KindContainer, task.Name)
	}
	return &t
}

func (env *environment) Prepare(_ context.Context, task engine.Task) (apirun.Container, *record.Failure) {
	l, f := env.life(task)
	if f != nil {
		return nil, f
	}
	return l, nil
}

func (env *environment) Remove(ctx context.Context, task engine.Task) error {
	return env.d.remove(ctx, task.Name)
}

func (env *environment) Failure(what string, err error) *record.Failure {
	return env.d.failure(what, err)
}

// Remains also removes the control groups that the runtime of a removed container
// left: crun and runc give up when a group stays busy for longer than they wait.
func (env *environment) Remains(ctx context.Context, task engine.Task) (bool, error) {
	there, err := env.d.exists(ctx, task.Name)
	if there || err != nil || env.settings.systemd {
		return there, err
	}
	return false, cgroup.RemoveNamed(ctx, env.d.ledger, task.Name)
}

// taken: a container's control group, at the top, must not be there yet. It
// would be somebody else's, and would be removed as if it were ours.
func (env *environment) taken(name string) *record.Failure {
	if env.settings.systemd {
		return nil
	}
	err := cgroup.Vacant(name)
	if err == nil {
		return nil
	}
	return &record.Failure{Class: record.HarnessError, Text: err.Error()}
}

// life prepares a container's life; the failure says what can't be had.
func (env *environment) life(task engine.Task) (*life, *record.Failure) {
	if f := refuseMounts(task.Mounts); f != nil {
		return nil, f
	}
	if f := env.taken(task.Name); f != nil {
		return nil, f
	}
	l := &life{streams: streams{Life: apirun.NewLife(task)}, env: env, network: env.network, look: env.look}
	if env.settings.hostNet {
		l.address = "127.0.0.1"
	}
	if task.Beside == nil {
		return l, nil
	}
	var beside *life
	pid := task.Beside.Place().PID
	switch h := task.Beside.(type) {
	case *apirun.Held:
		beside, _ = h.Container().(*life)
	case *heldCLI:
		beside = h.l
	}
	switch {
	case env.runtime.foreign:
		return nil, &record.Failure{Class: record.Unsupported,
			Text: "a sandbox with a network stack of its own (gVisor, Kata) can't be shared by two containers of containerd: pods are the CRI's"}
	case beside == nil || beside.env != env:
		return nil, &record.Failure{Class: record.HarnessError, Text: "sharing namespaces with a container of another environment"}
	case env.settings.hostNet: // it is shared already
	case pid == 0:
		return nil, &record.Failure{Class: record.HarnessError, Text: "the payload of the container to share namespaces with was not found"}
	default:
		l.network, l.address, l.join = nil, beside.address, fmt.Sprintf("/proc/%d/ns/net", pid)
	}
	return l, nil
}

func (env *environment) Close(ctx context.Context) error {
	return env.closing.Do(ctx, func(ctx context.Context) (errs []error) {
		if env.cli != nil { // what it holds it ends itself
			errs = append(errs, env.cli.Close(ctx))
		}
		errs = append(errs, env.Base.Close(ctx))
		for _, ref := range slices.Clone(env.pulls) {
			errs = append(errs, env.Drop(ctx, ref))
		}
		if env.pulling {
			errs = append(errs, env.d.removeNamespace(ctx, env.kit.Ledger, pullNamespace(env.kit.RunID)))
		}
		for _, undo := range slices.Backward(env.release) {
			errs = append(errs, undo(ctx))
		}
		return errs
	})
}

func (env *environment) LimitsMemory() bool { return true }
