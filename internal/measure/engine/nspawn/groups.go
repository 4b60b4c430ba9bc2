package nspawn

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/measure/probe"
)

// nspawn moves itself and the payload into two groups below the cgroup that it
// was started in, named supervisor and payload, and leaves them there when it
// runs without a unit of its own. So the launcher gets a cgroup of ours in
// those hierarchies, and the two go with it.

// hierarchies are the mount points of the hierarchies that nspawn works in:
// the one named systemd, and version 2.
func hierarchies() []string {
	all, _ := proc.Here.Hierarchies() // where there are none, nspawn makes no groups
	return worked(all)
}

func worked(all []proc.Hierarchy) []string {
	var found []string
	for _, h := range all {
		// An nspawn that is starting has one of its own there for a moment.
		if (h.Unified || h.Has("name=systemd")) && h.Root == "/" && !strings.HasPrefix(h.Mount, "/tmp/unified") {
			found = append(found, h.Mount)
		}
	}
	return found
}

// groups are the cgroups of one environment that are to be emptied of
// nspawn's two.
type groups struct {
	kit  *engine.Kit
	own  []string // made by us, to be removed
	dirs []string // these, and those of others that the launcher is in

	mu        sync.Mutex
	launchers []*probe.Launcher
}

// enter gives a kit whose launchers live in cgroups of ours, in every
// hierarchy of nspawn's where they have none by their limits.
func (g *groups) enter(id string) *engine.Kit {
	kit := *g.kit
	kit.Launcher = func(ctx context.Context, opts probe.Options) (*probe.Launcher, error) {
		g.mu.Lock()
		defer g.mu.Unlock()
		for _, mount := range hierarchies() {
			if i := slices.IndexFunc(opts.Cgroups, func(file string) bool { return filepath.Dir(filepath.Dir(file)) == mount }); i >= 0 {
				g.add(filepath.Dir(opts.Cgroups[i]))
				continue
			}
			dir := filepath.Join(mount, "nspawn-"+adapter.Name(g.kit.RunID, id))
			if !slices.Contains(g.own, dir) {
				if err := g.kit.Ledger.Made(engine.Thing{Kind: engine.KindCgroup, Name: dir}); err != nil {
					return nil, err
				}
				g.own = append(g.own, dir)
			}
			if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
				return nil, err
			}
			g.add(dir)
			opts.Cgroups = append(opts.Cgroups, filepath.Join(dir, "cgroup.procs"))
		}
		l, err := g.kit.Launcher(ctx, opts)
		if err == nil {
			g.launchers = append(g.launchers, l)
		}
		return l, err
	}
	return &kit
}

func (g *groups) add(dir string) {
	if !slices.Contains(g.dirs, dir) {
		g.dirs = append(g.dirs, dir)
	}
}

// clear ends the launchers and removes nspawn's groups.
func (g *groups) clear(ctx context.Context) error {
	var errs []error
	for _, l := range g.launchers {
		errs = append(errs, l.Close())
	}
	g.launchers = nil
	for _, d := range g.dirs {
		errs = append(errs, clearBelow(ctx, d))
	}
	return errors.Join(errs...)
}

// remove removes ours.
func (g *groups) remove(ctx context.Context) error {
	var errs []error
	for _, d := range g.own {
		if err := removeGroup(ctx, d); err != nil {
			errs = append(errs, err)
			continue
		}
		errs = append(errs, g.kit.Ledger.Gone(engine.Thing{Kind: engine.KindCgroup, Name: d}))
	}
	g.own = nil
	return errors.Join(errs...)
}

func clearBelow(ctx context.Context, dir string) error {
	return errors.Join(removeGroup(ctx, filepath.Join(dir, "payload")), removeGroup(ctx, filepath.Join(dir, "supervisor")))
}

// removeLimit is how long a cgroup may stay busy with processes that end.
const removeLimit = 3 * time.Second

func removeGroup(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeLimit)
	defer cancel()
	for {
		err := os.Remove(dir)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if !errors.Is(err, syscall.EBUSY) || ctx.Err() != nil {
			return err
		}
		time.Sleep(2 * time.Millisecond)
	}
}
