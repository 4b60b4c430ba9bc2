//go:build linux

package imagestore

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// makeSIF has Apptainer (or Singularity) build the image from the root
// directory, as its users do. It adds files of its own.
func (s *Store) makeSIF(ctx context.Context, root, out string) error {
	tool, err := s.opts.LookPath("apptainer")
	if err != nil {
		if tool, err = s.opts.LookPath("singularity"); err != nil {
			return &Error{
				Text: "packing the image as SIF: there is neither apptainer nor singularity on this machine",
				Fix:  "install Apptainer from its project's packages", Err: err,
			}
		}
	}
	// It caches and unpacks below directories of its user otherwise.
	work := filepath.Join(filepath.Dir(out), "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		return err
	}
	env := []string{"SOURCE_DATE_EPOCH=" + strconv.FormatInt(epoch.Unix(), 10)}
	for _, prefix := range []string{"APPTAINER_", "SINGULARITY_"} {
		env = append(env, prefix+"CACHEDIR="+work, prefix+"TMPDIR="+work)
	}
	if err := s.tool(ctx, 15*time.Minute, "packing the image as SIF", env, tool, "build", out, root); err != nil {
		return err
	}
	return os.Chmod(out, 0o644)
}
