package oci

import (
	"context"
	"os"
	"path/filepath"

	"plimsoll/internal/engine"
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

// containers are those whose state a runtime still keeps in the run's
// directory.
func containers(kit *engine.Kit) ([]engine.Leftover, error) {
	var found []engine.Leftover
	for _, p := range programs {
		root := filepath.Join(kit.Dir, stateDir, p.name, "state")
		entries, err := os.ReadDir(root)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return found, err
		}
		path, err := kit.LookPath(p.name)
		for _, entry := range entries {
			if err != nil || !entry.IsDir() {
				continue
			}
			name := entry.Name()
			found = append(found, engine.Leftover{Kind: "container", Name: p.name + " " + name,
				Remove: func(ctx context.Context) error {
					args := append(p.global(global{root: root, platform: "ptrace"}), "delete", "--force", name)
					_, derr := tool(ctx, path, args...)
					return stillThere(filepath.Join(root, name), derr)
				}})
		}
	}
	return found, nil
}
