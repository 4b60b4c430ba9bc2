package nspawn

import (
	"context"
	"errors"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/record"
)

// environment is nspawn in one configuration.
type environment struct {
	*clirun.Base
	path    string
	storage string
	none    bool // no network
	root    *root
	groups  *groups
}

func (e *Engine) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	d := e.Detect(ctx, kit)
	if err := engine.Refuse(e.Info(), d, spec); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	env := &environment{path: d.Where, storage: spec.Level(engine.Storage), none: spec.Level(engine.Network) == "none",
		groups: &groups{kit: kit}}
	if env.storage == engine.DefaultLevel {
		env.storage = overlay
	}
	path, err := kit.SpecImage(ctx, spec, image.Directory, nil)
	if err != nil {
		return nil, err
	}
	return adapter.Opened(ctx, env, env.open(ctx, kit, spec, path, d.Version))
}

func (e *environment) open(ctx context.Context, kit *engine.Kit, spec engine.Spec, path, version string) (err error) {
	if e.root, err = newRoot(ctx, kit, spec.ID, path, e.storage == copied); err != nil {
		return err
	}
	if e.Base, err = clirun.NewBase(ctx, e.groups.enter(spec.ID), spec, true); err != nil {
		return err
	}
	e.AddFacts(map[string]string{engine.HeldFact: engine.HeldByUs, "version": version, "client": "cli", "network": "host", "storage": e.storage,
		"rootless": "no", "user": "root", "seccomp": "default", "init": "none", "log": "none", "daemon": "none", "image-store": "none"})
	if e.none {
		e.AddFacts(map[string]string{"network": "none"})
	}
	return e.prove(ctx)
}

// prove checks from inside that the storage and the network are those asked
// for, and that the payload is PID 1.
func (e *environment) prove(ctx context.Context) error {
	p, err := adapter.Prove(ctx, e.Kit, e, e.Spec.ID)
	if err != nil {
		return err
	}
	fs := p.Report["root.fs"]
	if (fs == "overlay") != (e.storage == overlay) {
		return adapter.Wrong("asked for storage=%s, and the payload saw a root file system of type %s", e.storage, fs)
	}
	if err := (&adapter.Seen{Inside: p.Report, Host: adapter.HostNow()}).JudgeNetwork(e.Fact("network")); err != nil {
		return err
	}
	if pid := p.Report["pid"]; pid != "1" {
		return adapter.Wrong("the payload is to be PID 1 and is %s", pid)
	}
	if mode := p.Report["seccomp"]; mode != "2" {
		return adapter.Wrong("nspawn's seccomp filter is to be in force, and the payload ran in mode %s", mode)
	}
	e.AddFacts(map[string]string{"root-fs": fs, "seccomp-inside": p.Report["seccomp"]})
	if e.storage == overlay {
		e.AddFacts(map[string]string{record.OwnFiles: record.FilesInMemory}) // by --volatile=overlay
	}
	return nil
}

// Close clears nspawn's cgroups before the one that limits, below which they lie.
func (e *environment) Close(ctx context.Context) error {
	var errs []error
	if e.Base != nil {
		errs = append(errs, e.Base.EndHeld(ctx))
	}
	errs = append(errs, e.groups.clear(ctx))
	if e.Base != nil {
		errs = append(errs, e.Base.Close(ctx))
	}
	errs = append(errs, e.groups.remove(ctx))
	if e.root != nil {
		errs = append(errs, e.root.remove())
		e.root = nil
	}
	return errors.Join(errs...)
}
