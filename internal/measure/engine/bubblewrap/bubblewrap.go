// Package bubblewrap runs containers with bwrap, the unprivileged sandbox that
// Flatpak starts its programs in.
//
// It is opinionated: bwrap has no defaults, each namespace and mount is an
// option, so that the options here are what makes it comparable: every
// namespace but the network's as asked for, the image read-only, a /proc and a
// small /dev, the payload as PID 1. bwrap has no image store, no layer to
// write to, no seccomp profile of its own and no stop.
package bubblewrap

import (
	"context"
	"os"
	"strings"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/engine/userns"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/record"
)

const (
	title   = "bubblewrap"
	program = "bwrap"
	fix     = "apt-get install bubblewrap"
)

// Engine is the adapter. Mounts are in the containers' own namespaces and go with
// them.
type Engine struct{ engine.NothingLeft }

// New makes the adapter.
func New() *Engine { return &Engine{} }

var levels = map[string][]string{
	engine.Storage:  {"directory"},
	engine.Network:  {"none", "host"},
	engine.Rootless: {"no", "yes"},
	engine.Seccomp:  {"off"},
	engine.Client:   {"cli"},
	engine.Image:    engine.ImageLevels(),
	engine.Without:  engine.WithoutLevels(mechanisms),
}

// mechanisms are what can be taken away.
var mechanisms = append(engine.LeftOut(engine.UserNamespace, engine.CgroupNamespace, engine.PIDNamespace, engine.IPCNamespace, engine.UTSNamespace),
	engine.Exchanged(engine.Network, "none", "host"))

func (*Engine) Info() engine.Info {
	return engine.Info{Name: "bubblewrap", Title: title, Levels: engine.Known(levels),
		Typical: 40 * time.Millisecond, InPlace: true, Images: engine.ImagesGiven,
		Processes:  engine.Processes{Helpers: []string{program}},
		Programs:   []engine.Program{{Name: program, Says: "bubblewrap"}},
		Mechanisms: mechanisms, Rules: []engine.Rule{{
			When:    map[string][]string{engine.Rootless: {"yes"}, engine.Without: {engine.UserNamespace}},
			Because: "An ordinary user's containers are made in a user namespace of their own.",
			Source:  "https://github.com/containers/bubblewrap/blob/main/README.md",
		}}}
}

func (*Engine) Detect(ctx context.Context, kit *engine.Kit) engine.Detection {
	d := engine.Detection{Levels: engine.AllUsable(levels), Facts: map[string]string{"daemon": "none"}}
	d.Levels[engine.Rootless] = adapter.RootlessLevels(kit)
	if !adapter.Found(ctx, kit, &d, program, fix, version) {
		return d
	}
	if why, how := userns.Forbidden("bwrap"); why != "" && !setuid(d.Where) {
		if !kit.Root {
			d.Reason, d.Fix = why, how
			return d
		}
		yes := &d.Levels[engine.Rootless][1]
		yes.Usable, yes.Reason, yes.Fix = false, why, how
	}
	d.Usable = true
	return d
}

// setuid says whether bwrap was installed so that it needs no user namespace.
func setuid(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode()&os.ModeSetuid != 0
}

// version reads "bubblewrap 0.8.0".
func version(ctx context.Context, path string) (string, error) {
	out, err := child.Run(ctx, child.Command{Argv: []string{path, "--version"}, Limit: engine.DetectLimit})
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(strings.TrimPrefix(string(out.Stdout), "bubblewrap ")), nil
}

// environment is bwrap in one configuration.
type environment struct {
	*clirun.Base
	path  string
	image string
	user  *engine.User
	host  bool // the host's network
}

func (e *Engine) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	d := e.Detect(ctx, kit)
	if err := engine.Refuse(e.Info(), d, spec); err != nil {
		return nil, err
	}
	user, err := adapter.Identity(kit, spec)
	if err != nil {
		return nil, &engine.Error{Class: record.Unavailable, Text: spec.ID, Err: err}
	}
	env := &environment{path: d.Where, user: user, host: spec.Level(engine.Network) == "host"}
	if env.image, err = kit.SpecImage(ctx, spec, image.Directory, user); err != nil {
		return nil, err
	}
	if env.Base, err = clirun.NewBase(ctx, kit, spec, true); err != nil {
		return nil, err
	}
	env.AddFacts(map[string]string{engine.HeldFact: engine.HeldByUs, "version": d.Version, "client": "cli", "network": "none", "storage": "directory",
		"rootless": "no", "user": "root", "seccomp": "off", "init": "none", "log": "none", "daemon": "none", "image-store": "none"})
	env.AddFacts(engine.LiesOn(env.image))
	if env.host {
		env.AddFacts(map[string]string{"network": "host"})
	}
	if user != nil {
		env.AddFacts(map[string]string{"rootless": "yes", "user": user.Name})
	}
	return adapter.Opened(ctx, env, env.prove(ctx))
}

// prove checks from inside that the namespaces are those asked for. There is
// no live engine to ask: the payload's word is all.
func (e *environment) prove(ctx context.Context) error {
	p, err := adapter.Prove(ctx, e.Kit, e, e.Spec.ID)
	if err != nil {
		return err
	}
	seen := adapter.Seen{Inside: p.Report, Host: adapter.HostNow()}
	if err := seen.JudgeNetwork(e.Fact("network")); err != nil {
		return err
	}
	if err := adapter.JudgeOmitted(e.Spec, p.Report); err != nil {
		return err
	}
	if pid := p.Report["pid"]; pid != "" && pid != "1" && !e.Spec.Omits(engine.PIDNamespace) {
		return adapter.Wrong("the payload is to be PID 1 and is %s", pid)
	}
	if mode := p.Report["seccomp"]; mode != "" && mode != seen.Host.Seccomp {
		return adapter.Wrong("bwrap was given no seccomp filter, and the payload ran in mode %s (ours is %s)", mode, seen.Host.Seccomp)
	}
	e.AddFacts(map[string]string{"root-fs": p.Report["root.fs"], "seccomp-inside": p.Report["seccomp"]})
	return nil
}
