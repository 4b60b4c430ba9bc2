package baseline

import (
	"context"
	"errors"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/probe"
)

// Native runs the image's own programs in its own root directory, entered by
// chroot and nothing else: same files as in the containers, no isolation. As in
// every container there are a /proc, a /sys and a /dev, so that programs find
// the same to do, and a /work to write in, which is empty for each trial; they
// are mounted before a trial, not in it, in one mount namespace for all trials. All else is read-only, so that the
// image stays what it is.
type Native struct{ engine.NothingLeft }

func (Native) Info() engine.Info {
	return engine.Info{Name: "native", Title: "native", Baseline: true,
		Typical: 10 * time.Millisecond, InPlace: true, Images: engine.ImagesGiven, Processes: engine.Processes{None: true}, Levels: map[string][]string{
			engine.Network: {"host"}, engine.Storage: {"directory"}, engine.Image: engine.ImageLevels()}}
}

func (Native) Detect(_ context.Context, kit *engine.Kit) engine.Detection {
	d := engine.Detection{Usable: kit.Root, Version: kernel(), Where: "chroot(2)", Levels: map[string][]engine.Level{
		engine.Network: usable("host"), engine.Storage: usable("directory"), engine.Image: usable(engine.ImageLevels()...)}}
	if !kit.Root {
		d.Reason, d.Fix = "chroot needs root; entering it by a user namespace would be another thing", needRoot
	}
	return d
}

func (n Native) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	d := n.Detect(ctx, kit)
	if err := engine.Refuse(n.Info(), d, spec); err != nil {
		return nil, err
	}
	dir, err := directory(ctx, kit, spec)
	if err != nil {
		return nil, err
	}
	roots, err := newRoots(kit, dir)
	if err != nil {
		return nil, err
	}
	b, err := clirun.NewBase(ctx, roots.inside(), spec, true)
	if err != nil {
		return nil, errors.Join(err, roots.close())
	}
	b.AddFacts(map[string]string{"network": "host", "storage": "directory", "isolation": "chroot"})
	b.AddFacts(engine.LiesOn(dir))
	e := &environment{Base: b, close: roots.close}
	e.prepare = func(task engine.Task) (*container, error) {
		root, err := roots.take(task.Mounts)
		if err != nil {
			return nil, err
		}
		command := func(task engine.Task) (probe.Command, error) {
			return probe.Command{Argv: task.Argv, Env: env(task), Chroot: root.path, Dir: "/"}, nil
		}
		cmd, _ := command(task)
		return &container{cmd: cmd, exec: command, undo: func() error { return roots.give(root) }}, nil
	}
	if _, err := open(ctx, kit, spec, e); err != nil {
		return nil, err
	}
	chroot, _ := kit.LookPath("chroot") // without it there are no ranks, and those say so
	return &native{environment: e, roots: roots, chroot: chroot}, nil
}

// commandIn is a task's command, wherever its root is.
func commandIn(task engine.Task) probe.Command {
	return probe.Command{Argv: task.Argv, Env: task.Env, Dir: "/"}
}
