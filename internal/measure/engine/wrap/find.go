package wrap

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"plimsoll/internal/measure/host/proc"
)

// Find gives the control groups of exactly this name, wherever in the mounted
// hierarchies they lie: an engine may make its groups below its caller's. It
// goes through all groups, which is nothing for a measured path.
func Find(name string) ([]string, error) {
	hierarchies, err := proc.Here.Hierarchies()
	if err != nil {
		return nil, err
	}
	var found []string
	for _, h := range hierarchies {
		_ = filepath.WalkDir(h.Mount, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil // it has just gone, or may not be looked into
			case d.IsDir() && d.Name() == name && !slices.Contains(found, path):
				found = append(found, path)
			}
			return nil
		})
	}
	return found, nil
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
