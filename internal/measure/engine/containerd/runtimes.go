package containerd

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/containerd/containerd/api/types/runc/options"
	runtimeoptions "github.com/containerd/containerd/api/types/runtimeoptions/v1"
	"github.com/containerd/containerd/v2/defaults"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/kata"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// The shims that are no runc.
const (
	gvisorShim    = "containerd-shim-runsc-v1"
	gvisorRuntime = "io.containerd.runsc.v1"
	kataRuntime   = "io.containerd.kata.v2"
)

// ociRuntime is which runtime to use and how.
type ociRuntime struct {
	level   string
	shim    string // the runtime's name in containerd
	program string // path; empty where the shim finds it by itself
	foreign bool   // the payload runs on another kernel
	config  string // of a variant of Kata's: its configuration
}

var install = map[string]string{
	"runc": "apt-get install runc", "crun": "apt-get install crun", "runsc": "apt-get install runsc",
	"youki": "cargo install youki --locked --features v1,v2,systemd,seccomp",
}

// chooseRuntime finds what a level needs on this machine.
func chooseRuntime(kit *engine.Kit, level string) (ociRuntime, error) {
	r := ociRuntime{level: level, shim: defaults.DefaultRuntime}
	no := func(text, fix string) (ociRuntime, error) {
		return r, &engine.Error{Class: record.Unavailable, Text: text, Fix: fix}
	}
	switch {
	case level == engine.DefaultLevel:
		return r, nil
	case slices.Contains(kata.Levels, level):
		r.foreign, r.shim = true, kataRuntime
		if why, fix := (kata.Machine{}).Missing(level, kit.LookPath); why != "" {
			return no(why, fix)
		}
		r.program, _ = kit.LookPath(kata.Shim)
		if kata.Handlers[level] != "" {
			r.config = kata.Machine{}.Facts(level)["hypervisor-config"]
		}
		return r, nil
	case level == "runsc":
		r.foreign = true
		if _, err := kit.LookPath(gvisorShim); err == nil {
			r.shim = gvisorRuntime
		}
	}
	path, err := kit.LookPath(level)
	if err != nil {
		return no(fmt.Sprintf("the runtime %s is not on the PATH", level), install[level])
	}
	r.program = path
	return r, nil
}

// options are what the shim is told. gVisor has a network stack of its own,
// which containerd does not know of: without a network there is nothing for it
// to take over, and the host's is reached only past it.
func (r ociRuntime) options(kit *engine.Kit, spec engine.Spec) (any, error) {
	network := "none"
	if hostNetwork(spec) {
		network = "host"
	}
	o := &options.Options{SystemdCgroup: spec.Level(engine.Driver) == "systemd"}
	switch {
	case r.shim == kataRuntime && r.config != "":
		return &runtimeoptions.Options{ConfigPath: r.config}, nil
	case r.shim == kataRuntime:
		return nil, nil
	case r.shim == gvisorRuntime:
		path := filepath.Join(kit.Dir, "containerd-runsc-"+network+".toml")
		text := fmt.Sprintf("[runsc_config]\n  network = %q\n", network)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return nil, fmt.Errorf("configuring gVisor's shim: %w", err)
		}
		return &runtimeoptions.Options{TypeUrl: gvisorRuntime + ".options", ConfigPath: path}, nil
	case r.level == "runsc":
		path, err := wrapper(kit.Dir, r.program, network)
		if err != nil {
			return nil, fmt.Errorf("wrapping runsc: %w", err)
		}
		o.BinaryName = path
	case r.program != "":
		o.BinaryName = r.program
	}
	return o, nil
}

// identify asks the program, which without a choice is the runc on containerd's own PATH.
// What it is called proves nothing.
func (r ociRuntime) identify(ctx context.Context, socket string) adapter.Itself {
	pid, _ := proc.Here.Behind(socket) // 0: only an absolute path is found
	return adapter.Identify(ctx, pid, cmp.Or(r.program, "runc"))
}

// tool runs a command that is not measured.
func tool(ctx context.Context, path string, args ...string) (string, error) {
	out, err := child.Run(ctx, child.Command{Argv: append([]string{path}, args...), Limit: askLimit})
	return string(out.Stdout), err
}

// stateRoot is where the shim has a runtime keep the state of its containers.
const stateRoot = "/run/containerd/runc"

// stateOf tells by the files that a runtime keeps about a live container which
// one made it; empty where they can't be seen or are not known.
func (d *daemon) stateOf(id string) string {
	return stateBelow(filepath.Join(d.state, d.namespace), id)
}

func stateBelow(root, id string) string {
	has := func(parts ...string) bool {
		_, err := os.Stat(filepath.Join(append([]string{root}, parts...)...))
		return err == nil
	}
	if found, _ := filepath.Glob(filepath.Join(root, id+"_sandbox*.state")); len(found) > 0 {
		return "runsc"
	}
	switch {
	case has(id, "status"):
		return "crun"
	case has(id, "youki_config.json"):
		return "youki"
	case has(id, "state.json"):
		return "runc"
	}
	return ""
}
