package lxd

import (
	"context"
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/apirun"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/record"
)

// hooks come with the package lxcfs, and a daemon from the distribution includes
// them in every container. One of them sleeps for half a second after every stop.
const hooks = "/usr/share/lxc/config/common.conf.d/00-lxcfs.conf"

var (
	_ engine.Holder  = (*environment)(nil)
	_ engine.Daemons = (*environment)(nil)
	_ engine.Readier = (*environment)(nil)
)

// environment is LXD or Incus in one configuration.
type environment struct {
	*apirun.Base
	e        *Engine
	kit      *engine.Kit
	spec     engine.Spec
	d        *daemon // within the run's project
	pool     pool
	networks []string
	alias    string // the image
	image    string // its fingerprint
	cli      *commandLine

	// look, where given, is called when a payload has ended, before its
	// container is removed: for the proof only.
	look      func(ctx context.Context, name string) error
	nic       *nic   // nil where containers get no address
	noAddress string // and why

	shifting sync.Mutex // of what follows
	shift    bool       // directories of the host are mounted with ids mapped
	tried    bool

	closing adapter.Closing
	undo    []func(context.Context) error
}

func (e *Engine) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	d, s, cerr := e.connect(ctx, kit)
	if cerr != nil {
		return nil, cerr
	}
	d.run = kit.RunID
	env := &environment{e: e, kit: kit, spec: spec, d: d.within(projectName(kit.RunID))}
	env.Base = apirun.NewBase(env, kit.Ledger)
	env.AddFacts(serverFacts(s))
	if err := env.open(ctx, s); err != nil {
		return nil, errors.Join(err, env.Close(ctx))
	}
	return env, nil
}

func (env *environment) open(ctx context.Context, s *server) error {
	if err := engine.Refuse(env.e.Info(), env.e.Detect(ctx, env.kit), env.spec); err != nil {
		return err
	}
	user, err := env.d.defaults(ctx)
	if err != nil {
		return err
	}
	if err := env.provide(ctx, s, user); err != nil {
		return err
	}
	env.AddFacts(map[string]string{
		"client": byAPI, "daemon": "user's", "host": env.d.socket, "rootless": "no",
		"storage": env.pool.Driver, "storage-pool": env.pool.Name, "image-store": env.e.imageFormat(),
		"network": strings.Join(env.networks, ","), "init": initCommand, "log": "none", "monitor": "lxc monitor",
	})
	if v, _ := s.storage(env.pool.Driver); v != "" {
		env.AddFacts(map[string]string{"storage-version": v})
	}
	if _, err := os.Stat(hooks); err == nil && !strings.HasPrefix(env.d.socket, "/var/snap/") {
		env.AddFacts(map[string]string{"hooks": hooks})
	}
	if err := env.connect(ctx, user); err != nil {
		return err
	}
	// A privileged container has no ids to be mapped.
	env.shift = s.Environment.KernelFeatures["idmapped_mounts"] == "true" && env.spec.Level(engine.Privileged) != "yes"
	env.AddFacts(map[string]string{"tmpfs": "by liblxc", engine.HeldFact: engine.HeldByEngine})
	if env.pool.Config[labelKey] == env.kit.RunID {
		env.AddFacts(map[string]string{"storage-pool": "ours"})
	}
	env.AddFacts(cgroup.ByEngineFacts(env.spec.Limits))
	if env.spec.Level(engine.Client) == byCLI {
		if env.cli, err = newCommandLine(ctx, env); err != nil {
			return err
		}
		env.AddFacts(env.cli.facts(ctx))
	}
	return env.prove(ctx)
}

// connect finds out by what containers get an address.
func (env *environment) connect(ctx context.Context, user profile) (err error) {
	switch {
	case env.spec.Level(engine.Network) == "none":
		env.noAddress = "the container has no network but its own loopback (network=none)"
	default:
		if env.nic, env.noAddress, err = env.d.findNIC(ctx, user, env.kit.RunID+env.spec.ID); err != nil {
			return err
		}
	}
	if len(env.networks) == 0 {
		env.AddFacts(map[string]string{"network": "none"})
	} else if env.nic != nil {
		env.AddFacts(map[string]string{"network-by": "the daemon's bridge, with an address that Plimsoll chose"})
	}
	return nil
}

// provide makes the project, the pool, the image and the profile, as far as
// no other environment of the run has them already.
func (env *environment) provide(ctx context.Context, s *server, user profile) error {
	d, runID := env.d, env.kit.RunID
	project := projectName(runID)
	err := env.hold(ctx, engine.KindProject, project,
		func(ctx context.Context) error { return d.within("").createProject(ctx, runID) },
		func(ctx context.Context) error { return d.emptyProject(ctx, project) })
	if err != nil {
		return err
	}
	p, ours, err := d.within("").choosePool(ctx, env.spec.Level(engine.Storage), runID, user)
	if err != nil {
		return err
	}
	env.pool = p
	if ours {
		err = env.hold(ctx, engine.KindPool, p.Name,
			func(ctx context.Context) error { return d.within("").createPool(ctx, p) },
			func(ctx context.Context) error { return d.removePool(ctx, p.Name) })
		if err != nil {
			return err
		}
	}
	name := engine.ImageName(env.spec)
	env.alias = env.e.alias(name)
	err = env.hold(ctx, engine.KindImage, env.alias,
		func(ctx context.Context) error { return env.e.importImage(ctx, env.kit, d, s, name) },
		func(ctx context.Context) error { return d.removeImage(ctx, env.alias) })
	if err != nil {
		return err
	}
	if env.image, err = d.imageFingerprint(ctx, env.alias); err != nil {
		return d.wrong("looking up the image "+env.alias, err)
	}
	if sizes, err := env.Sizes(ctx, name); err == nil {
		env.AddFacts(map[string]string{"image-size": bytesOf(sizes.Printed), "image-disk": bytesOf(sizes.Disk)})
	}
	prof, networks := profileFor(env.spec, runID, p.Name, user)
	env.networks = networks
	at := profileName(env.spec)
	return env.hold(ctx, engine.KindProfile, at,
		func(ctx context.Context) error {
			if err := d.call(ctx, http.MethodPost, "/1.0/profiles", prof); err != nil {
				return d.wrong("making the profile "+at, err)
			}
			return nil
		},
		func(ctx context.Context) error { return d.removeOurs(ctx, "the profile "+at, "/1.0/profiles/"+at) })
}

// removeImage removes an image by its alias.
func (d *daemon) removeImage(ctx context.Context, alias string) error {
	print, err := d.imageFingerprint(ctx, alias)
	if notFound(err) {
		return nil
	}
	if err != nil {
		return d.wrong("looking up the image "+alias, err)
	}
	return d.dropImage(ctx, print, alias)
}

// hold makes a thing of ours in the daemon, once for all environments that
// use it, and sees to its removal. What was half made is removed at once.
func (env *environment) hold(ctx context.Context, kind, name string, create, remove func(context.Context) error) error {
	ledger, thing := env.kit.Ledger, env.d.thing(kind, name)
	key := strings.Join([]string{env.d.socket, env.kit.RunID, kind, name}, " ")
	away := func(ctx context.Context) error {
		if err := remove(ctx); err != nil {
			return err
		}
		return ledger.Gone(thing)
	}
	release, err := env.e.holds.Hold(ctx, key, func(ctx context.Context) (func(context.Context) error, error) {
		if err := ledger.Made(thing); err != nil {
			return nil, err
		}
		err := create(ctx)
		if err == nil {
			return away, nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeLimit)
		defer cancel()
		return nil, errors.Join(err, away(ctx))
	})
	if err == nil {
		env.undo = append(env.undo, release)
	}
	return err
}

func (env *environment) Run(ctx context.Context, task engine.Task) (engine.Result, error) {
	if env.cli == nil {
		return env.Base.Run(ctx, task)
	}
	return env.Account(ctx, task, func() (engine.Result, error) { return env.runCLI(ctx, task) })
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

func (env *environment) Ping(ctx context.Context) error {
	return env.d.get(ctx, "/1.0", &server{})
}

func (env *environment) Thing(task engine.Task) *engine.Thing {
	t := env.d.thing(engine.KindContainer, task.Name)
	return &t
}

func (env *environment) Prepare(ctx context.Context, task engine.Task) (apirun.Container, *record.Failure) {
	if f := env.refuse(ctx, task); f != nil {
		return nil, f
	}
	return env.life(task), nil
}

// refuse says why a task can't be, or makes the daemon ready for it.
func (env *environment) refuse(ctx context.Context, task engine.Task) *record.Failure {
	if f := refuse(task); f != nil {
		return f
	}
	return env.tryShift(ctx, task)
}

func (env *environment) Failure(what string, err error) *record.Failure {
	return env.d.failure(what, err)
}

func (env *environment) Close(ctx context.Context) error {
	return env.closing.Do(ctx, func(ctx context.Context) (errs []error) {
		if env.cli != nil {
			errs = append(errs, env.cli.EndHeld(ctx))
		}
		errs = append(errs, env.Base.Close(ctx))
		for _, undo := range slices.Backward(env.undo) {
			errs = append(errs, undo(ctx))
		}
		if env.cli != nil {
			errs = append(errs, env.cli.Close(ctx))
		}
		env.d.close()
		return errs
	})
}
