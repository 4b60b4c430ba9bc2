package nerdctl

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// environment is nerdctl in one configuration.
type environment struct {
	*clirun.Base
	c       *client
	tag     string
	runtime string // its name
	binary  string // its path
	storage string
	network string
	seccomp string // "off", or empty
	// keep leaves the container for look, in the proof only.
	keep bool

	closing adapter.Closing
	release func(context.Context) error
}

func level(spec engine.Spec, factor string) string {
	if l := spec.Level(factor); l != engine.DefaultLevel {
		return l
	}
	return levels[factor][0]
}

func (e *Engine) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	d := e.Detect(ctx, kit)
	if err := engine.Refuse(e.Info(), d, spec); err != nil {
		return nil, err
	}
	c, v, err := find(ctx, kit)
	if err != nil {
		return nil, err
	}
	env := &environment{c: c, runtime: level(spec, engine.Runtime), storage: level(spec, engine.Storage),
		network: level(spec, engine.Network)}
	if spec.Level(engine.Seccomp) == "off" {
		env.seccomp = "off"
	}
	if env.binary, err = kit.LookPath(env.runtime); err != nil {
		return nil, &engine.Error{Class: record.Unavailable, Text: "finding the runtime " + env.runtime, Err: err}
	}
	program, err := adapter.AskItself(ctx, env.binary)
	if err != nil {
		return nil, &engine.Error{Class: record.Unavailable, Text: "the runtime " + env.runtime + " can't be used", Err: err}
	}
	if err := program.Wrong(env.runtime, ""); err != nil {
		return nil, err
	}
	if env.tag, env.release, err = e.provide(ctx, kit, c, engine.ImageName(spec), env.storage); err != nil {
		return nil, err
	}
	return adapter.Opened(ctx, env, env.open(ctx, kit, spec, v))
}

func (env *environment) open(ctx context.Context, kit *engine.Kit, spec engine.Spec, v *versions) (err error) {
	if env.Base, err = clirun.NewBase(ctx, kit, spec, false); err != nil {
		return err
	}
	env.AddFacts(map[string]string{"version": v.Client.Version, "containerd": v.containerd(), "host": env.c.socket,
		"cli": env.c.path, "client": "cli", "network": env.network, "storage": env.storage, "runtime": env.runtime,
		"runtime-path": env.binary, "rootless": "no", "user": "root", "seccomp": "default", "init": "none", "log": "json-file",
		"daemon": "user's", "image-store": "containerd", engine.HeldFact: engine.HeldByEngine})
	if env.seccomp == "off" {
		env.AddFacts(map[string]string{"seccomp": "off"})
	}
	env.AddFacts(cgroup.ByEngineFacts(spec.Limits))
	return env.prove(ctx, kit, spec)
}

// provide loads an image into the run's namespace, once for all environments. The
// namespace goes with the last image.
func (e *Engine) provide(ctx context.Context, kit *engine.Kit, c *client, name, storage string) (string, func(context.Context) error, error) {
	tag := kit.Images.Tag(name, kit.RunID)
	path, err := kit.Images.Path(ctx, name, image.DockerArchive)
	if err != nil {
		return "", nil, &engine.Error{Class: record.Unavailable, Text: "providing the image " + name + " as a docker archive", Err: err}
	}
	wrong := func(err error) error {
		return &engine.Error{Class: record.EngineError, Text: "loading the image " + name, Err: err}
	}
	release, err := e.images.Hold(ctx, storage+" "+tag, func(ctx context.Context) (func(context.Context) error, error) {
		leave, err := e.spaces.Hold(ctx, c.namespace, func(ctx context.Context) (func(context.Context) error, error) {
			away := func(ctx context.Context) error { return c.clear(ctx, kit) }
			if err := c.begin(ctx, kit); err != nil {
				return nil, errors.Join(wrong(err), away(context.WithoutCancel(ctx)))
			}
			return away, nil
		})
		if err != nil {
			return nil, err
		}
		if _, err = c.output(ctx, "load", "--snapshotter="+storage, "--input", path); err != nil {
			return nil, errors.Join(wrong(err), leave(context.WithoutCancel(ctx)))
		}
		return leave, nil
	})
	return tag, release, err
}

// args are the options and the command of `nerdctl run`. Swap is taken away
// with the memory.
func (env *environment) args(task engine.Task, more ...string) []string {
	args := append([]string{"run", "--snapshotter=" + env.storage}, more...)
	args = append(args, "--name", task.Name, "--label", engine.Label+"="+env.Kit.RunID, "--pull=never",
		"--network="+adapter.NetworkOf(task, env.network), "--runtime="+env.binary)
	args = append(args, mountArgs(task)...)
	args = append(args, mechanismArgs(env.Spec)...)
	if env.seccomp == "off" {
		args = append(args, "--security-opt=seccomp=unconfined")
	}
	if l := env.Spec.Limits; l.CPUs > 0 {
		args = append(args, "--cpus="+strconv.FormatFloat(l.CPUs, 'f', -1, 64))
	}
	if l := env.Spec.Limits.For(task); l.MemoryBytes > 0 {
		n := strconv.FormatInt(l.MemoryBytes, 10)
		args = append(args, "--memory="+n, "--memory-swap="+n)
	}
	for _, kv := range task.Env {
		args = append(args, "--env="+kv)
	}
	args = append(args, "--entrypoint="+task.Argv[0], env.tag)
	return append(args, task.Argv[1:]...)
}

// Run takes the end of `run --rm` as the container's removal.
func (env *environment) Run(ctx context.Context, task engine.Task) (engine.Result, error) {
	if f := env.impossible(task); f != nil {
		return engine.Result{Failure: f}, nil
	}
	more := []string{"--rm"}
	if env.keep {
		more = nil
	}
	run := clirun.Step{Cmd: env.c.command(env.Kit, env.args(task, more...)...), Begin: record.Request, End: record.Removed, Removes: true}
	p := clirun.Plan{Task: task, Steps: []clirun.Step{run}, Patterns: patterns}
	if task.Stop != nil {
		p.Steps[0].Cmd.Background = true
		stop := env.c.command(env.Kit, "stop", "--time", graceSeconds(*task.Stop), task.Name)
		stop.Await = probe.AwaitReady
		p.Steps = append(p.Steps, clirun.Step{Cmd: stop, Begin: record.Stop, End: record.Stopped})
	}
	res, err := env.Base.Run(ctx, p)
	if env.keep && err == nil && res.Failure == nil {
		return res, nil
	}
	after := context.WithoutCancel(ctx)
	if err != nil || res.Failure != nil {
		return res, errors.Join(err, env.c.removeContainer(after, task.Name))
	}
	env.settle(after, task.Name, &res)
	return res, nil
}

// settle sees to it that a container is gone.
func (env *environment) settle(ctx context.Context, name string, res *engine.Result) {
	names, err := env.c.containers(ctx)
	if err == nil && slices.Contains(names, name) {
		err = errors.Join(fmt.Errorf("the container %s was still there after its removal had returned", name),
			env.c.removeContainer(ctx, name))
	}
	if err != nil {
		res.Failure = &record.Failure{Class: record.UncleanEnd, Text: err.Error()}
	}
}

var patterns = []adapter.Pattern{{Text: "image not available", Class: record.Unavailable}}

// graceSeconds is the grace period as nerdctl takes it: whole seconds, a part
// of one counts as one.
func graceSeconds(s engine.Stop) string {
	return strconv.Itoa(int((s.Grace + time.Second - 1) / time.Second))
}

// native is what we read of `nerdctl container inspect --mode=native`.
type native struct {
	Snapshotter string
	Runtime     struct {
		Name    string
		Options struct{ Value string }
	}
	Spec struct {
		Linux struct{ Seccomp *json.RawMessage }
	}
}

// prove runs one container and holds what containerd says of it, and what the
// payload saw, against what was asked for.
func (env *environment) prove(ctx context.Context, kit *engine.Kit, spec engine.Spec) (err error) {
	env.keep = true
	p, perr := adapter.Prove(ctx, kit, env, spec.ID)
	env.keep = false
	names, lerr := env.c.containers(ctx)
	defer func() {
		for _, n := range names {
			if strings.Contains(n, "open-") {
				err = errors.Join(err, env.c.removeContainer(context.WithoutCancel(ctx), n))
			}
		}
	}()
	if err := errors.Join(perr, lerr); err != nil {
		return err
	}
	i := slices.IndexFunc(names, func(n string) bool { return strings.Contains(n, "open-") })
	if i < 0 {
		return &engine.Error{Class: record.NoProof, Text: "nerdctl does not know the container that has just run"}
	}
	out, err := env.c.output(ctx, "container", "inspect", "--mode=native", names[i])
	if err != nil {
		return err
	}
	var live []native
	if err := json.Unmarshal(out, &live); err != nil || len(live) != 1 {
		return &engine.Error{Class: record.NoProof, Text: fmt.Sprintf("nerdctl inspect listed %d containers (%v)", len(live), err)}
	}
	if err := adapter.JudgeOmitted(spec, p.Report); err != nil {
		return err
	}
	return env.judge(live[0], p.Report)
}

func (env *environment) judge(live native, inside map[string]string) error {
	if live.Snapshotter != env.storage {
		return adapter.Wrong("asked for the snapshotter %s, containerd says %s", env.storage, live.Snapshotter)
	}
	options, _ := base64.StdEncoding.DecodeString(live.Runtime.Options.Value)
	if !strings.Contains(string(options), env.binary) {
		return adapter.Wrong("asked for the runtime %s, containerd says %s with %q", env.binary, live.Runtime.Name, options)
	}
	if fs := inside["root.fs"]; (fs == "overlay") != (env.storage == "overlayfs") {
		return adapter.Wrong("asked for the snapshotter %s, and the payload saw a root file system of type %s", env.storage, fs)
	}
	if err := (&adapter.Seen{Inside: inside, Host: adapter.HostNow()}).JudgeNetwork(env.network); err != nil {
		return err
	}
	if filtered := live.Spec.Linux.Seccomp != nil; filtered == (env.seccomp == "off") {
		return adapter.Wrong("asked for seccomp %s, and the container's profile is there: %v", env.Facts()["seccomp"], filtered)
	}
	env.AddFacts(map[string]string{"root-fs": inside["root.fs"], "seccomp-inside": inside["seccomp"], "shim": live.Runtime.Name})
	return nil
}

func (env *environment) Calibrate(ctx context.Context, task engine.Task, rounds int) ([]probe.Exchange, error) {
	xs, err := env.Exchange(ctx, task, env.c.command(env.Kit, env.args(task, "--rm", "--interactive")...), rounds)
	return xs, errors.Join(err, env.c.removeContainer(context.WithoutCancel(ctx), task.Name))
}

func (env *environment) Close(ctx context.Context) error {
	return env.closing.Do(ctx, func(ctx context.Context) (errs []error) {
		if env.Base != nil {
			errs = append(errs, env.Base.Close(ctx))
		}
		return append(errs, env.release(ctx))
	})
}

func (env *environment) LimitsMemory() bool { return true }
