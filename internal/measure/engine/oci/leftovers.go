package oci

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/cgroup"
)

// stillThere keeps an error of delete only where the container's state is
// really still there.
func stillThere(state string, err error) error {
	if err == nil {
		return nil
	}
	if _, serr := os.Stat(state); os.IsNotExist(serr) {
		return nil
	}
	return err
}

// thing is what the ledger says of a container.
func (e *environment) thing(name string) engine.Thing {
	return engine.Thing{Kind: engine.KindContainer, Name: name, Engine: "oci", At: e.path}
}

// Leftovers finds containers with a state in the run's directory, or control
// groups of their names, which hold the processes.
func (*Engine) Leftovers(_ context.Context, kit *engine.Kit, things []engine.Thing) ([]engine.Leftover, error) {
	return engine.LookForEach(engine.OfKind(things, engine.KindContainer), func(t engine.Thing) (bool, error) {
		groups, err := cgroup.Named(t.Name)
		return len(groups) > 0 || len(traces(kit, t.Name)) > 0, err
	}, func(ctx context.Context, t engine.Thing) error { return remove(ctx, kit, t) }), nil
}

// root is where a runtime keeps its containers' state.
func (p program) root(kit *engine.Kit) string {
	return filepath.Join(kit.Dir, stateDir, p.name, "state")
}

// traces are what a runtime has of a container: its state, and gVisor's files
// beside.
func (p program) traces(kit *engine.Kit, name string) []string {
	var found []string
	for _, pattern := range []string{name, name + "_*"} {
		paths, _ := filepath.Glob(filepath.Join(p.root(kit), pattern)) // a name is [a-z0-9-]
		found = append(found, paths...)
	}
	return found
}

func traces(kit *engine.Kit, name string) []string {
	var found []string
	for _, p := range programs {
		found = append(found, p.traces(kit, name)...)
	}
	return found
}

// remove deletes a container by the program that made it, and what that left
// beside. Where the program is gone meanwhile, or does not understand the state
// that a kill has cut off, the processes are ended by their control group, and
// what it kept, files of ours in a directory of ours, is removed without it.
func remove(ctx context.Context, kit *engine.Kit, t engine.Thing) error {
	for _, p := range programs {
		if len(p.traces(kit, t.Name)) > 0 {
			args := append(p.global(global{root: p.root(kit), platform: "ptrace"}), "delete", "--force", t.Name)
			_, _ = tool(ctx, t.At, args...)
		}
	}
	if err := cgroup.RemoveNamed(ctx, kit.Ledger, t.Name); err != nil {
		return err
	}
	var errs []error
	for _, path := range traces(kit, t.Name) {
		errs = append(errs, safepath.RemoveAll(path))
	}
	return errors.Join(errs...)
}

var _ engine.Bearer = (*Engine)(nil)

// Bearing lists containers with a state in the run's folder, or with processes or
// control groups.
func (*Engine) Bearing(_ context.Context, kit *engine.Kit, runID string) ([]engine.Thing, error) {
	var found []engine.Thing
	for _, p := range programs {
		states, err := os.ReadDir(p.root(kit))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return found, err
		}
		for _, s := range states {
			if strings.HasPrefix(s.Name(), ".") {
				continue // crun's .empty-directory, which it mounts over masked ones since 1.22
			}
			found = append(found, engine.Thing{Kind: engine.KindContainer, Name: s.Name(), Engine: "oci", At: p.name})
		}
	}
	groups, err := cgroup.Bearing(runID)
	return append(found, groups...), err
}

// Places lists the container's control groups. None of its name existed before
// the container was entered.
func (*Engine) Places(t engine.Thing) []string {
	paths, _ := cgroup.Places(t.Name) // without hierarchies there are none
	return paths
}
