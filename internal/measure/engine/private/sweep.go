package private

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// Sweep ends the private daemons that a run which was killed has left, and
// undoes its file systems. dir is the run's folder, its Kit.Dir. It tells what
// it removed, by kind and name. Of a run that left none it does nothing. What
// it ends and removes is only what the notes say that we wrote there.
func Sweep(ctx context.Context, runID, dir string) ([]string, error) {
	if runID == "" {
		return nil, errors.New("sweeping private daemons: no run is named")
	}
	var removed []string
	var errs []error
	entries, err := os.ReadDir(filepath.Join(dir, folder))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		errs = append(errs, err)
	}
	// The daemons first: they hold the file systems.
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), fsTail) {
			continue
		}
		n, err := readNote(dir, runID, e.Name())
		if err != nil {
			errs = append(errs, err)
			continue
		}
		n = cmp.Or(n, &note{Run: runID, Name: e.Name()}) // nothing but its folder
		if err := n.finish(ctx, filepath.Join(dir, folder, e.Name())); err != nil {
			errs = append(errs, err)
			continue
		}
		removed = append(removed, "daemon "+n.label())
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), fsTail) {
			if err := undoFileSystem(filepath.Join(dir, folder, e.Name())); err != nil {
				errs = append(errs, err)
				continue
			}
			removed = append(removed, "filesystem "+runID+"/"+strings.TrimSuffix(e.Name(), fsTail))
		}
	}
	return removed, errors.Join(errs...)
}
