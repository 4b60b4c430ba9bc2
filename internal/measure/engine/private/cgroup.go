package private

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"plimsoll/internal/measure/host/proc"

	"golang.org/x/sys/unix"
)

// ownGroup says why a cgroup's name can't be one of the run's, or nil: it is
// one at the top of a hierarchy and bears the run's id.
func (n *note) ownGroup(name string) error {
	if n.Run == "" || !strings.Contains(name, n.Run) || strings.Contains(name, "/") || name == ".." {
		return fmt.Errorf("%q is no name of a cgroup of the run %s", name, n.Run)
	}
	return nil
}

// removeCgroups removes the cgroup of this name at the top of every hierarchy,
// with those below it.
func (n *note) removeCgroups(name string) error {
	if err := n.ownGroup(name); err != nil {
		return err
	}
	mounts, err := mounted()
	if err != nil {
		return err
	}
	var errs []error
	for _, h := range proc.Hierarchies(mounts) {
		errs = append(errs, removeTree(filepath.Join(h.Mount, name)))
	}
	return errors.Join(errs...)
}

// removeTree removes a cgroup from its leaves up. The kernel needs a moment
// after the last process of one has ended.
func removeTree(top string) error {
	var err error
	for wait := time.Millisecond; wait < time.Second; wait *= 2 {
		var dirs []string
		_ = filepath.WalkDir(top, func(p string, e fs.DirEntry, werr error) error {
			if werr == nil && e.IsDir() {
				dirs = append(dirs, p)
			}
			return nil
		})
		err = nil
		for i := len(dirs) - 1; i >= 0; i-- {
			if rerr := unix.Rmdir(dirs[i]); rerr != nil && !errors.Is(rerr, unix.ENOENT) {
				err = &os.PathError{Op: "removing the cgroup", Path: dirs[i], Err: rerr}
			}
		}
		if err == nil {
			return nil
		}
		time.Sleep(wait)
	}
	return err
}
