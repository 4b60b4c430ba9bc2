package baseline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/engine/userns"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// Floor is the smallest container that the kernel can make: new namespaces,
// one overlay mount over the image's root directory, pivot_root, exec; a few
// system calls of ours and no engine. What an engine takes more is its own.
type Floor struct{ engine.NothingLeft }

func (Floor) Info() engine.Info {
	return engine.Info{Name: "floor", Title: "floor", Baseline: true, Bare: true,
		Typical: 10 * time.Millisecond, InPlace: true, Images: engine.ImagesGiven, Processes: engine.Processes{None: true}, Levels: map[string][]string{
			engine.Network: {"none", "host"}, engine.Rootless: {"no", "yes"},
			engine.Storage: {"overlay"}, engine.Image: engine.ImageLevels()}}
}

func (Floor) Detect(_ context.Context, kit *engine.Kit) engine.Detection {
	d := engine.Detection{Usable: true, Version: kernel(), Where: "clone3(2), overlay, pivot_root(2)",
		Levels: map[string][]engine.Level{engine.Network: usable("none", "host"),
			engine.Storage: usable("overlay"), engine.Image: usable(engine.ImageLevels()...)}}
	rootless := engine.Level{Name: "yes", Usable: true}
	if kit.Root {
		rootless.Usable = false
		rootless.Reason = "as root, the floor is made by root: a user namespace entered by root would not show what an ordinary user pays"
		rootless.Fix = "run plimsoll as an ordinary user"
	}
	root := engine.Level{Name: "no", Usable: kit.Root}
	if !kit.Root {
		root.Reason, root.Fix = "making namespaces without a user namespace needs root", needRoot
	}
	d.Levels[engine.Rootless] = []engine.Level{root, rootless}
	if !proc.Here.HasFileSystem("overlay") {
		d.Usable, d.Reason, d.Fix = false, "this kernel has no overlay file system", engine.Modprobe("overlay")
	}
	if !kit.Root {
		if why, fix := userns.Forbidden(); why != "" {
			d.Usable, d.Reason, d.Fix = false, why, fix
		}
	}
	return d
}

func (f Floor) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	d := f.Detect(ctx, kit)
	if err := engine.Refuse(f.Info(), d, spec); err != nil {
		return nil, err
	}
	lower, err := directory(ctx, kit, spec)
	if err != nil {
		return nil, err
	}
	if onOverlay(kit.Dir) {
		return nil, &engine.Error{Class: record.Unavailable,
			Text: fmt.Sprintf("%s lies on an overlay, which can't carry another one's upper layer", kit.Dir),
			Fix:  "point --state-dir to another file system"}
	}
	b, err := clirun.NewBase(ctx, kit, spec, true)
	if err != nil {
		return nil, err
	}
	own := spec.Level(engine.Network) != "host"
	facts := map[string]string{"network": "none", "storage": "overlay", "rootless": "no"}
	if !own {
		facts["network"] = "host"
	}
	if !kit.Root {
		facts["rootless"] = "yes"
	}
	b.AddFacts(facts)
	b.AddFacts(engine.LiesOn(lower))
	e := &environment{Base: b, prepare: func(task engine.Task) (*container, error) {
		if len(task.Mounts) > 0 {
			return nil, adapter.Unsupported("the floor mounts an overlay and /proc, and nothing else")
		}
		if task.Beside != nil && own {
			return nil, adapter.Unsupported("the floor makes an empty network namespace for each container and joins none")
		}
		dir := filepath.Join(kit.Dir, "floor-"+task.Name)
		fl := &probe.Floor{Lower: lower, UserNS: !kit.Root, NetNS: own,
			Upper: filepath.Join(dir, "upper"), Work: filepath.Join(dir, "work"), Merged: filepath.Join(dir, "merged")}
		undo := func() error { return removeTree(dir) }
		for _, d := range []string{fl.Upper, fl.Work, fl.Merged} {
			if err := os.MkdirAll(d, 0o755); err != nil {
				return nil, errors.Join(fmt.Errorf("making the overlay's directories: %w", err), undo())
			}
		}
		if kit.Root { // nobody else may
			dev := filepath.Join(fl.Upper, "dev")
			if err := errors.Join(os.Mkdir(dev, 0o755), makeDevices(dev)); err != nil { //nolint:gosec // as everywhere
				return nil, errors.Join(fmt.Errorf("making the floor's devices: %w", err), undo())
			}
		}
		return &container{cmd: probe.Command{Argv: task.Argv, Env: env(task), Dir: "/", Floor: fl}, undo: undo}, nil
	}}
	return open(ctx, kit, spec, e)
}

// removeTree removes the overlay's directories. The kernel leaves one of mode
// 0 in the work directory, which an ordinary user can't look into.
func removeTree(dir string) error {
	_ = os.Chmod(filepath.Join(dir, "work", "work"), 0o700)
	if err := safepath.RemoveAll(dir); err != nil {
		return fmt.Errorf("removing the overlay's directories: %w", err)
	}
	return nil
}
