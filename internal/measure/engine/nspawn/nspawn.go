// Package nspawn runs containers with systemd-nspawn.
//
// It is opinionated: nspawn is used without systemd's services, so that it
// runs also where systemd is not the init: no registration with machined, no
// unit of its own (--register=no --keep-unit). The payload is PID 1, as with
// every engine, and SIGTERM to nspawn is handed on to it. Each container gets
// a fresh root: a layer in memory over the image, the image read-only, or a
// copy; nspawn's own default, writing into the image itself, would let one
// trial see another's files.
package nspawn

import (
	"context"
	"fmt"
	"strings"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
)

const (
	title   = "systemd-nspawn"
	program = "systemd-nspawn"
	fix     = "apt-get install systemd-container"
)

// The levels of the factor storage with nspawn's option for each.
const (
	overlay   = "overlay"
	directory = "directory"
	copied    = "copy"
)

var storageOption = map[string]string{
	overlay: "--volatile=overlay", directory: "--read-only", copied: "--ephemeral",
}

// Engine is the adapter.
type Engine struct{}

// New makes the adapter.
func New() *Engine { return &Engine{} }

var levels = map[string][]string{
	engine.Storage:  {overlay, directory, copied},
	engine.Network:  {"host", "none"},
	engine.Rootless: {"no"},
	engine.Client:   {"cli"},
	engine.Image:    engine.ImageLevels(),
}

func (*Engine) Info() engine.Info {
	return engine.Info{Name: "nspawn", Title: title, Levels: engine.Known(levels),
		Typical: 120 * time.Millisecond, Images: engine.ImagesGiven,
		Processes:  engine.Processes{Helpers: []string{"systemd-nspawn", "(sd-"}},
		Mechanisms: []engine.Mechanism{engine.Exchanged(engine.Storage, overlay, directory), engine.Exchanged(engine.Network, "none", "host")},
		Cgroups:    []engine.ContainerGroup{{Path: `/machine-[^/]+\.scope$|/systemd-nspawn@[^/]+$`}}}
}

func (*Engine) Detect(ctx context.Context, kit *engine.Kit) engine.Detection {
	d := engine.Detection{Levels: engine.AllUsable(levels), Facts: map[string]string{"daemon": "none"}}
	if !adapter.Found(ctx, kit, &d, program, fix, version) {
		return d
	}
	if !kit.Root {
		d.Reason, d.Fix = "systemd-nspawn needs root", "sudo plimsoll …"
		return d
	}
	if len(hierarchies()) == 0 {
		d.Reason = "systemd-nspawn needs a cgroup hierarchy of version 2 or one named systemd, and neither is mounted"
		d.Fix = "mkdir -p /sys/fs/cgroup/systemd && mount -t cgroup -o none,name=systemd cgroup /sys/fs/cgroup/systemd"
		return d
	}
	d.Usable = true
	return d
}

// version reads "systemd 252 (252.39-1~deb12u2)".
func version(ctx context.Context, path string) (string, error) {
	out, err := child.Run(ctx, child.Command{Argv: []string{path, "--version"}, Limit: engine.DetectLimit})
	if err != nil {
		return "", err
	}
	w := strings.Fields(string(out.Stdout))
	if len(w) < 2 {
		return "", fmt.Errorf("it printed %q", out.Stdout)
	}
	return w[1], nil
}
