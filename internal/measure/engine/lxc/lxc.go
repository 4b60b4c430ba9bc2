// Package lxc measures LXC by its own commands, without a manager.
//
// It is opinionated. The level "steps" is a system container: lxc-start, then
// the payload by lxc-attach in what runs, then lxc-stop; its init is the
// probe's. The level "execute" is an application container: lxc-execute, with
// LXC's own small init. Configuration is the distribution's common one, as
// its templates include it, and a few lines for each environment. lxc-destroy
// is never used: it would delete the root directory, which is the image.
package lxc

import (
	"context"
	"fmt"
	"strings"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/host/proc"
)

// The levels of the factor client.
const (
	bySteps   = "steps"
	byExecute = "execute"
)

// common is the configuration that distributions' templates include.
const common = "/usr/share/lxc/config/common.conf"

// hooks come with the package lxcfs, and into the common configuration. One of
// them sleeps for half a second after every stop.
const hooks = "/usr/share/lxc/config/common.conf.d/00-lxcfs.conf"

// bridge is what LXC's own network service makes.
const bridge = "lxcbr0"

const install = "apt-get install lxc"

// Engine is the adapter.
type Engine struct{}

// New makes the adapter.
func New() *Engine { return &Engine{} }

func (*Engine) Info() engine.Info {
	return engine.Info{Name: "lxc", Title: "LXC", Detached: true,
		Typical: 700 * time.Millisecond, Images: engine.ImagesGiven,
		Processes:  engine.Processes{Helpers: []string{"lxc", "[lxc", "memfd:lxc"}}, // lxc-attach runs a copy of itself
		Cgroups:    []engine.ContainerGroup{{Path: `/(lxc\.payload\.[^/]+|lxc/[^/]+)$`}},
		Mechanisms: mechanisms,
		Rules: []engine.Rule{notAttached, {
			When:    map[string][]string{engine.Runtime: {engine.OCIRuntimes}},
			Because: "LXC starts containers by its own library, and takes no OCI runtime.",
			Source:  "https://linuxcontainers.org/lxc/introduction/",
		}}, Levels: map[string][]string{
			engine.Runtime:  {"lxc"},
			engine.Client:   {bySteps, byExecute},
			engine.Storage:  {"directory", "overlay"},
			engine.Network:  {engine.DefaultLevel, "none", "host", "bridge"},
			engine.Rootless: {"no"},
			engine.Seccomp:  {engine.DefaultLevel, "off"},
			engine.Without:  engine.WithoutLevels(mechanisms),
			engine.With:     engine.WithLevels(mechanisms),
			engine.Image:    engine.ImageLevels(),
		}}
}

// programs are the commands that are used.
var programs = []string{"lxc-start", "lxc-attach", "lxc-stop", "lxc-execute", "lxc-info"}

// find gives the commands' paths.
func find(kit *engine.Kit) (map[string]string, error) {
	paths := map[string]string{}
	for _, p := range programs {
		path, err := kit.LookPath(p)
		if err != nil {
			return nil, fmt.Errorf("%s is not installed", p)
		}
		paths[p] = path
	}
	return paths, nil
}

func (e *Engine) Detect(ctx context.Context, kit *engine.Kit) engine.Detection {
	d := engine.Detection{Levels: map[string][]engine.Level{}, Facts: map[string]string{}}
	paths, err := find(kit)
	if err != nil {
		d.Reason, d.Fix = err.Error(), install
		return d
	}
	d.Where = paths["lxc-start"]
	out, err := child.Run(ctx, child.Command{Argv: []string{d.Where, "--version"}, Env: []string{adapter.Path}, Limit: engine.DetectLimit})
	if err != nil {
		d.Reason = fmt.Sprintf("asking %s for its version: %v", d.Where, err)
		return d
	}
	d.Version = strings.TrimSpace(string(out.Stdout))
	if !kit.Root {
		d.Reason, d.Fix = "containers of ordinary users need a set-up of their own (subordinate ids, delegated cgroups), which is not measured", "sudo plimsoll …"
		return d
	}
	d.Usable = true
	d.Facts["runtime"], d.Facts["runtime-version"] = "lxc", d.Version
	d.Levels = engine.LevelsUnless(e.Info().Levels, impossible)
	return d
}

// impossible says why a level can't be had here.
func impossible(factor, level string) (reason, fix string) {
	if factor == engine.Without {
		return adapter.NotHere(factor, level), ""
	}
	switch {
	case factor == engine.Network && level == "bridge":
		if !hasBridge() {
			return "there is no bridge " + bridge + " on this machine", "systemctl start lxc-net"
		}
	case factor == engine.Storage && level == "overlay":
		if !proc.Here.HasFileSystem("overlay") {
			return "the kernel has no overlay file system, or it is not loaded", engine.Modprobe("overlay")
		}
	}
	return "", ""
}
