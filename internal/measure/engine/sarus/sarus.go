// Package sarus runs containers with Sarus, a container engine for
// supercomputers.
//
// It is opinionated: Sarus keeps each image as a SquashFS file in a repository
// of the user's; it makes no network namespace; and it has no stop, so that a
// stop is a signal to `sarus run`. Its client takes the container away when it
// is told to end, and leaves it, with its control groups, when it is killed:
// so it is told, also at a time limit, and what stays is removed by its name.
//
// No package has Sarus. The tests run against a program that answers as its
// user guide says, and against the real one where it is installed.
package sarus

import (
	"context"
	"strings"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/record"
)

const (
	title   = "Sarus"
	program = "sarus"
	fix     = "install Sarus (https://sarus.readthedocs.io)"
)

// Engine is the adapter.
type Engine struct {
	images adapter.Pool[any] // by user and reference
	states string            // where Sarus' runc keeps its containers, a directory for each user
}

// New makes the adapter.
func New() *Engine { return &Engine{states: "/run/runc"} }

// byHand is the version that the adapter was last tried with.
const byHand = "1.7.0"

var levels = map[string][]string{
	engine.Storage:  {"squashfs"},
	engine.Network:  {"host", "none"},
	engine.Rootless: {"no", "yes"},
	engine.Client:   {"cli"},
	engine.Image:    engine.ImageLevels(),
}

func (*Engine) Info() engine.Info {
	return engine.Info{Name: "sarus", Title: title, Levels: engine.Known(levels), ByHand: byHand,
		Typical: 300 * time.Millisecond, Images: engine.ImagesGiven, Programs: []engine.Program{{Name: program, Unnamed: true}},
		Processes: engine.Processes{Helpers: []string{"sarus", "runc"}}}
}

func (e *Engine) Detect(ctx context.Context, kit *engine.Kit) engine.Detection {
	d := engine.Detection{Levels: engine.AllUsable(levels), Facts: map[string]string{"daemon": "none"}}
	d.Levels[engine.Rootless] = adapter.RootlessLevels(kit)
	none := &d.Levels[engine.Network][1]
	none.Usable, none.Reason = false, "Sarus makes no network namespace: its containers have the host's network"
	d.Usable = adapter.Found(ctx, kit, &d, program, fix, func(ctx context.Context, path string) (string, error) {
		out, err := e.by(path, nil).run(ctx, kit, "--version")
		return strings.TrimSpace(out), err
	})
	return d
}

// environment is Sarus in one configuration.
type environment struct {
	*clirun.Base
	s       *sarus
	ref     string
	closing adapter.Closing
	release func(context.Context) error
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
	env := &environment{s: e.by(d.Where, user)}
	if env.s.names, err = env.s.knowsNames(ctx, kit); err != nil {
		return nil, &engine.Error{Class: record.EngineError, Text: "asking Sarus whether its containers have names", Err: err}
	}
	if env.ref, env.release, err = e.provide(ctx, kit, env.s, engine.ImageName(spec)); err != nil {
		return nil, err
	}
	if env.Base, err = clirun.NewBase(ctx, kit, spec, true); err == nil {
		env.AddFacts(map[string]string{engine.HeldFact: engine.HeldByUs, "version": d.Version, "client": "cli", "network": "host", "storage": "squashfs",
			"rootless": "no", "user": "root", "daemon": "none", "init": "none", "log": "none"})
		if user != nil {
			env.AddFacts(map[string]string{"rootless": "yes", "user": user.Name})
		}
		err = env.prove(ctx)
	}
	return adapter.Opened(ctx, env, err)
}

// prove records what the payload saw: its root file system is an overlay in
// memory over the SquashFS, and how it is called is not judged.
func (e *environment) prove(ctx context.Context) error {
	p, err := adapter.Prove(ctx, e.Kit, e, e.Spec.ID)
	if err != nil {
		return err
	}
	if err := (&adapter.Seen{Inside: p.Report, Host: adapter.HostNow()}).JudgeNetwork("host"); err != nil {
		return err
	}
	e.AddFacts(map[string]string{"root-fs": p.Report["root.fs"], "seccomp-inside": p.Report["seccomp"]})
	return nil
}

func (e *environment) Close(ctx context.Context) error {
	return e.closing.Do(ctx, func(ctx context.Context) (errs []error) {
		if e.Base != nil {
			errs = append(errs, e.Base.Close(ctx))
		}
		return append(errs, e.release(ctx))
	})
}
