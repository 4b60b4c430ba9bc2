package oci

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// environment is one runtime in one configuration.
type environment struct {
	*clirun.Base
	program  program
	path     string
	options  global
	rootfs   string
	oneCall  bool // client=run
	dir      string
	cgroupNS bool
}

func (e *Engine) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	prog, path, err := e.refuse(ctx, kit, spec)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rootfs, err := kit.SpecImage(ctx, spec, image.Directory, nil)
	if err != nil {
		return nil, err
	}
	v, err := prog.version(ctx, path)
	if _, ok := errors.AsType[*engine.Error](err); ok {
		return nil, err
	}
	if err != nil {
		return nil, &engine.Error{Class: record.Unavailable, Text: "asking the runtime for its version", Err: err}
	}
	if spec.Level(engine.Client) == "run" && prog.noRun != nil {
		if why := prog.noRun(v); why != "" {
			return nil, &engine.Error{Class: record.Unsupported, Text: why}
		}
	}
	if spec.Limits != (engine.Limits{}) {
		if spec.Omits(engine.OwnCgroup) {
			return nil, &engine.Error{Class: record.Unsupported, Text: "no container can be limited without a control group"}
		}
		if why, fix := cgroup.AtTop(); why != "" {
			return nil, &engine.Error{Class: record.Unavailable, Text: "no container can be limited: " + why, Fix: fix}
		}
	}
	// The runtime limits by itself; the launcher and the runtime's own
	// processes stay outside, as an engine's client does.
	b, err := clirun.NewBase(ctx, kit, spec, false)
	if err != nil {
		return nil, err
	}
	env := &environment{Base: b, program: prog, path: path, rootfs: rootfs, cgroupNS: cgroupNamespaces(),
		oneCall: spec.Level(engine.Client) == "run",
		dir:     filepath.Join(kit.Dir, stateDir, prog.name),
		options: global{root: filepath.Join(kit.Dir, stateDir, prog.name, "state"), hostNet: spec.Level(engine.Network) == "host",
			noCgroup: spec.Omits(engine.OwnCgroup)}}
	return adapter.Opened(ctx, env, env.prepare(ctx, v))
}

// stateDir is where bundles and the runtimes' state lie in the run's
// directory, by runtime: Leftovers looks there.
const stateDir = "oci"

// prepare makes the directories, chooses the platform and proves that a
// container works.
func (e *environment) prepare(ctx context.Context, v string) error {
	if err := os.MkdirAll(e.options.root, 0o711); err != nil {
		return fmt.Errorf("making the runtime's state directory: %w", err)
	}
	if err := os.MkdirAll(e.shared(), 0o755); err != nil {
		return fmt.Errorf("making a directory for the containers: %w", err)
	}
	client, network := "steps", "none"
	if e.oneCall {
		client = "run"
	}
	if e.options.hostNet {
		network = "host"
	}
	held := engine.HeldByEngine
	if e.oneCall {
		held = engine.HeldByUs
	}
	e.AddFacts(map[string]string{engine.HeldFact: held, "version": v, "runtime": e.program.name, "runtime-path": e.path, "client": client,
		"runtime-version": v, "network": network, "storage": "directory", "seccomp": "off", "rootless": "no", "user": "root",
		"cgroup": cgroup.Version(), "cgroup-driver": cgroup.Driver,
		"init": "none", "log": "none", "daemon": "none", "image-store": "none", "apparmor": "off"})
	e.AddFacts(engine.LiesOn(e.rootfs))
	if e.Spec.Limits == (engine.Limits{}) {
		e.AddFacts(map[string]string{cgroup.Limits: cgroup.Nobody, cgroup.LimitsWhy: "no limits were asked for"})
	} else {
		e.AddFacts(map[string]string{cgroup.Limits: cgroup.ByEngine})
	}
	if e.program.name != "runsc" {
		return e.prove(ctx)
	}
	candidates, err := platforms(ctx, e.path)
	if err != nil {
		return &engine.Error{Class: record.Unavailable, Text: "asking runsc for its platforms", Err: err}
	}
	var failed []string
	for _, p := range candidates {
		e.options.platform = p
		if err = e.prove(ctx); err == nil {
			e.AddFacts(map[string]string{"platform": p, "platform-refused": strings.Join(failed, "; ")})
			return nil
		}
		failed = append(failed, p+": "+err.Error())
	}
	return err
}

// prove runs one container and checks from inside that it is what was asked
// for.
func (e *environment) prove(ctx context.Context) error {
	p, err := adapter.Prove(ctx, e.Kit, e, e.Spec.ID)
	if err != nil {
		return err
	}
	r := p.Report
	if err := adapter.JudgeOmitted(e.Spec, r); err != nil {
		return err
	}
	if r["pid"] != "1" && !e.Spec.Omits(engine.PIDNamespace) {
		return adapter.Wrong("the payload is not PID 1 but %s", r["pid"])
	}
	// gVisor has a kernel of its own, with a version of its own.
	seen := adapter.Seen{Inside: r, Host: adapter.HostNow()}
	if seen.Foreign() != (e.program.name == "runsc") {
		return adapter.Wrong("the kernel inside is %s %s, which is not what %s runs", r["uname.release"], r["uname.version"], e.program.name)
	}
	if err := seen.JudgeNetwork(e.Fact("network")); err != nil {
		return err
	}
	if r["seccomp"] != "0" && !seen.Foreign() {
		return adapter.Wrong("a seccomp filter is in force (mode %s), though none was asked for", r["seccomp"])
	}
	e.AddFacts(map[string]string{"kernel": r["uname.release"]})
	return nil
}

// command is a call of the runtime.
func (e *environment) command(args ...string) probe.Command {
	argv := append([]string{e.path}, e.program.global(e.options)...)
	return probe.Command{Argv: append(argv, args...), Env: e.env(), Dir: "/"}
}

func (e *environment) env() []string {
	return []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root"}
}

func (e *environment) Close(ctx context.Context) error {
	return errors.Join(e.Base.Close(ctx), removeNullNet(e.options.root))
}

// removeNullNet takes away what gVisor since 2026 mounts in its state directory
// when it is told to have no network: an empty network namespace, kept for the
// next container. It makes another one where there is none.
func removeNullNet(root string) error {
	path := filepath.Join(root, "null-netns")
	if err := adapter.Detach(path); err != nil {
		return err
	}
	return adapter.RemoveIfThere(path)
}
