// Package apptainer runs containers with `apptainer exec` (or `singularity
// exec`, its older name), from an image file (SIF), a directory (sandbox), or a
// Docker archive that it converts at each start.
//
// It is opinionated: the command has no flags but those that a factor asks
// for, since that is what users type. Apptainer's defaults then hold: the
// host's network, processes and IPC are shared, home and /tmp are bound in,
// and root has no capabilities unless the configuration says otherwise. The
// facts say what came of it, from inside.
package apptainer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/userns"
)

// programs are the names under which it may be installed.
var programs = []string{"apptainer", "singularity"}

const fix = "install the package apptainer (from apptainer.org, or Debian sid; on Ubuntu ppa:apptainer/ppa)"

// Engine is the adapter.
type Engine struct{}

// New makes the adapter.
func New() *Engine { return &Engine{} }

// mechanisms are what can be taken away, from the outside in, and what can be added.
// What it puts its containers in by itself are mounts of the host's.
var mechanisms = slices.Concat([]engine.Mechanism{engine.Exchanged(engine.Storage, "sif", "sandbox"), engine.Exchanged(engine.Network, "none", "host")},
	engine.LeftOut(engine.HostMounts, engine.SmallMounts),
	engine.Added(engine.PIDNamespace, engine.IPCNamespace, engine.UTSNamespace, engine.Contained, engine.WritableLayer), engine.Filled())

// omitArgs and addArgs are the options for them.
var (
	omitArgs = map[string]string{engine.HostMounts: "--no-mount=tmp,home,cwd,hostfs,bind-paths", engine.SmallMounts: "--no-mount=sys,dev,devpts"}
	addArgs  = map[string]string{engine.PIDNamespace: "--pid", engine.IPCNamespace: "--ipc", engine.UTSNamespace: "--uts",
		engine.Contained: "--contain", engine.WritableLayer: "--writable-tmpfs"}
)

var levels = map[string][]string{
	engine.Without:  engine.WithoutLevels(mechanisms),
	engine.With:     engine.WithLevels(mechanisms),
	engine.Storage:  {"sif", "sandbox", byArchive},
	engine.Network:  {"host", "none"},
	engine.Rootless: {"no", "yes"},
	engine.Client:   {"cli"},
	engine.Image:    engine.ImageLevels(),
}

func (*Engine) Info() engine.Info {
	return engine.Info{Name: "apptainer", Title: "Apptainer", Levels: engine.Known(levels),
		Typical: 150 * time.Millisecond, InPlace: true, Images: engine.ImagesPulled,
		Mechanisms: mechanisms, Rules: []engine.Rule{{
			When:    map[string][]string{engine.Without: {engine.HostMounts, engine.SmallMounts}, engine.With: {engine.Contained}},
			Because: "--contain chooses the mounts itself.",
			Source:  "https://apptainer.org/docs/user/latest/bind_paths_and_mounts.html",
		}},
		Programs:  []engine.Program{{Name: programs[0], Becomes: []string{"starter", "starter-suid"}}},
		Processes: engine.Processes{Helpers: []string{"starter", "appinit", "squashfuse", "fuse2fs", "fuse-overlayfs"}}}
}

// installed is what is known of the program.
type installed struct {
	path   string
	name   string // apptainer or singularity
	setuid bool   // it has a setuid starter, so that users need no user namespace
}

func (e *Engine) Detect(ctx context.Context, kit *engine.Kit) engine.Detection {
	d, _ := e.detect(ctx, kit)
	return d
}

func (*Engine) detect(ctx context.Context, kit *engine.Kit) (engine.Detection, installed) {
	d := engine.Detection{Levels: engine.AllUsable(levels), Facts: map[string]string{}}
	var in installed
	for _, name := range programs {
		if path, err := kit.LookPath(name); err == nil && in.path == "" {
			in = installed{path: path, name: name}
		}
	}
	if in.path == "" {
		d.Reason, d.Fix = "neither apptainer nor singularity is installed", fix
		return d, in
	}
	d.Where = in.path
	out, err := tool(ctx, in.path, "--version")
	if err != nil {
		d.Reason = fmt.Sprintf("asking %s for its version: %v", in.path, err)
		return d, in
	}
	d.Version = parseVersion(out)
	if out, err = tool(ctx, in.path, "buildcfg"); err == nil {
		in.setuid = strings.Contains(out, "_SUID_INSTALL=1")
	}
	d.Facts["setuid"] = "no"
	if in.setuid {
		d.Facts["setuid"] = "yes"
	}
	d.Levels[engine.Rootless] = rootlessLevels(kit, in.setuid)
	if !kit.Root {
		none := &d.Levels[engine.Network][1]
		none.Usable, none.Reason, none.Fix = false, "apptainer lets only root choose a network", "sudo plimsoll …"
	}
	d.Usable = d.Levels[engine.Rootless][0].Usable || d.Levels[engine.Rootless][1].Usable
	if !d.Usable {
		d.Reason, d.Fix = d.Levels[engine.Rootless][1].Reason, d.Levels[engine.Rootless][1].Fix
	}
	return d, in
}

// rootlessLevels: "no" is root, or an ordinary user by the setuid starter;
// "yes" is an ordinary user in a user namespace.
func rootlessLevels(kit *engine.Kit, setuid bool) []engine.Level {
	ls := adapter.RootlessLevels(kit)
	if setuid && !kit.Root {
		ls[0] = engine.Level{Name: "no", Usable: true}
	} else if !kit.Root {
		ls[0].Reason = "needs root, or an apptainer installed with its setuid starter"
	}
	if why, how := userns.Forbidden("apptainer", "starter"); why != "" {
		ls[1] = engine.Level{Name: "yes", Reason: why, Fix: how}
	}
	return ls
}

// parseVersion reads "apptainer version 1.4.5" or "singularity-ce version 4.1.0-1".
func parseVersion(out string) string {
	f := strings.Fields(out)
	if len(f) == 0 {
		return ""
	}
	return f[len(f)-1]
}

// tool runs the program for something that is not measured.
func tool(ctx context.Context, path string, args ...string) (string, error) {
	out, err := child.Run(ctx, child.Command{Argv: append([]string{path}, args...), Env: []string{adapter.Path, "HOME=/nonexistent"}, Limit: engine.DetectLimit})
	if err != nil {
		return "", err
	}
	return string(out.Stdout), nil
}
