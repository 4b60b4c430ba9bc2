package private

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// Sweep ends the private daemons that a run which was killed has left, and
// undoes its file systems. dir is the run's folder, its Kit.Dir. It tells what
// it removed, by kind and name. Of a run that left none it does nothing.
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
		if strings.HasSuffix(e.Name(), "-fs") {
			continue
		}
		sub := filepath.Join(dir, folder, e.Name())
		b, _ := os.ReadFile(filepath.Join(sub, noteFile)) // it may be missing: the kill came before the start
		var n note
		_ = json.Unmarshal(b, &n) // a torn note leaves the mark, which says enough
		n.Mark = runID + "/" + e.Name()
		if err := n.finish(ctx, sub); err != nil {
			errs = append(errs, err)
			continue
		}
		removed = append(removed, "daemon "+n.Mark)
	}
	// Whatever else bears the run's mark, though its folder is gone.
	if left := family(runID + "/"); len(left) > 0 {
		if err := killFamily(ctx, runID+"/"); err != nil {
			errs = append(errs, err)
		}
		for _, p := range left {
			removed = append(removed, "process "+p.String())
		}
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), "-fs") {
			if err := undoFileSystem(filepath.Join(dir, folder, e.Name())); err != nil {
				errs = append(errs, err)
				continue
			}
			removed = append(removed, "filesystem "+runID+"/"+strings.TrimSuffix(e.Name(), "-fs"))
		}
	}
	return removed, errors.Join(errs...)
}
