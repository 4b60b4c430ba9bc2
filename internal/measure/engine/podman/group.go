package podman

import (
	"context"
	"slices"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/cgroup"
)

// Podman's control groups are called by random ids, which a kill may leave in no
// record: Podman forgets a container while its runtime is still making the groups.
// So they get a parent of the run's own in place of libpod_parent, at the same
// depth, where Podman makes groups itself. Of systemd's scopes systemd takes care.

// groupOf is the name of that parent, at the top of each hierarchy.
func groupOf(runID string) string { return "plimsoll-podman-" + runID }

// holdGroup enters the parent's paths into the ledger. Podman makes them.
func (e *Engine) holdGroup(kit *engine.Kit) (name string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	name = groupOf(kit.RunID)
	paths, err := cgroup.Places(name)
	if err == nil && e.groups[name] == 0 && !slices.ContainsFunc(kit.Ledger.Left(), func(t engine.Thing) bool { return slices.Contains(paths, t.Name) }) {
		err = cgroup.Vacant(name)
	}
	for _, path := range paths {
		if err == nil {
			err = kit.Ledger.Made(engine.Thing{Kind: engine.KindCgroup, Name: path})
		}
	}
	if err == nil {
		e.groups[name]++
	}
	return "/" + name, err
}

// dropGroup removes the parent's groups after the last environment.
func (e *Engine) dropGroup(ctx context.Context, kit *engine.Kit) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	name := groupOf(kit.RunID)
	if e.groups[name]--; e.groups[name] > 0 {
		return nil
	}
	delete(e.groups, name)
	paths, err := cgroup.Places(name)
	if err != nil {
		return err
	}
	there, err := cgroup.Named(name)
	if err == nil {
		err = cgroup.RemoveGroups(ctx, there)
	}
	for _, path := range paths {
		if err == nil {
			err = kit.Ledger.Gone(engine.Thing{Kind: engine.KindCgroup, Name: path})
		}
	}
	return err
}
