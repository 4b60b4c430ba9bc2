package baseline

import (
	"context"

	"plimsoll/internal/engine"
	"plimsoll/internal/engine/clirun"
	"plimsoll/internal/probe"
	"plimsoll/internal/record"
)

// Native runs the image's own programs in its own root directory, entered by
// chroot and nothing else: same files as in the containers, no isolation. As in
// every container there is a /proc, so that the payload finds the same to do;
// it is mounted when the environment is opened, not in a trial.
type Native struct{}

// Info is documented in engine.Engine.
func (Native) Info() engine.Info {
	return engine.Info{Name: "native", Title: "native", Baseline: true, Levels: map[string][]string{
		engine.Network: {"host"}, engine.Storage: {"directory"}, engine.Image: imageLevels}}
}

// Detect is documented in engine.Engine.
func (Native) Detect(_ context.Context, kit *engine.Kit) engine.Detection {
	d := engine.Detection{Usable: kit.Root, Version: kernel(), Where: "chroot(2)", Levels: map[string][]engine.Level{
		engine.Network: usable("host"), engine.Storage: usable("directory"), engine.Image: usable(imageLevels...)}}
	if !kit.Root {
		d.Reason, d.Fix = "chroot needs root; entering it by a user namespace would be another thing", needRoot
	}
	return d
}

// Open is documented in engine.Engine.
func (n Native) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	d := n.Detect(ctx, kit)
	if !d.Usable {
		return nil, &engine.Error{Class: record.Unavailable, Text: d.Reason, Fix: d.Fix}
	}
	if err := engine.Refuse(n.Info(), d, spec); err != nil {
		return nil, err
	}
	dir, err := directory(ctx, kit, spec)
	if err != nil {
		return nil, err
	}
	b, err := clirun.NewBase(ctx, kit, spec, true)
	if err != nil {
		return nil, err
	}
	b.AddFacts(map[string]string{"network": "host", "storage": "directory", "isolation": "chroot"})
	e := &environment{Base: b}
	root, err := newRoot(kit, dir)
	if err != nil {
		return nil, closeAfter(ctx, e, err)
	}
	e.close = root.remove
	e.command = func(task engine.Task) (probe.Command, func() error, error) {
		return probe.Command{Argv: task.Argv, Env: env(task), Chroot: root.path, Dir: "/"}, nothing, nil
	}
	return open(ctx, kit, spec, e)
}

// Leftovers is documented in engine.Engine.
func (Native) Leftovers(_ context.Context, _ *engine.Kit, runID string) ([]engine.Leftover, error) {
	return leftovers(runID), nil
}
