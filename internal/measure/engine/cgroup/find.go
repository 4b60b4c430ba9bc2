package cgroup

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host/proc"
)

// Below returns the control groups of this name that lie at the top of a hierarchy,
// or directly below a group of the ledger's or one that this process is in: where a
// runtime makes them below its caller's.
func Below(ledger engine.Ledger, name string) ([]string, error) {
	paths, err := Places(name)
	if err != nil {
		return nil, err
	}
	hierarchies, err := proc.Here.Hierarchies()
	if err != nil {
		return nil, err
	}
	groups, err := proc.Here.Groups(proc.Self)
	for _, h := range hierarchies {
		for _, dir := range groups.In(h) {
			paths = append(paths, filepath.Join(dir, name))
		}
	}
	for _, t := range engine.OfKind(ledger.Left(), engine.KindCgroup) {
		paths = append(paths, filepath.Join(t.Name, name))
	}
	slices.Sort(paths)
	return existing(slices.Compact(paths)), err
}

// RemoveGroups removes control groups that are proved to be ours, with what
// runs in them.
func RemoveGroups(ctx context.Context, paths []string) error {
	var errs []error
	for _, path := range paths {
		d := groupDir{path: path}
		d.kill()
		errs = append(errs, d.remove(ctx))
	}
	return errors.Join(errs...)
}
