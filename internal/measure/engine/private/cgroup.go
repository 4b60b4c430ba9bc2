package private

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/host/proc"

	"golang.org/x/sys/unix"
)

// ownGroup says why a cgroup's name can't be one of the run's, or nil: it is
// one at the top of a hierarchy and bears the run's id.
func (n *note) ownGroup(name string) error {
	if n.Run == "" || !strings.Contains(name, n.Run) || strings.Contains(name, "/") || name == ".." {
		return fmt.Errorf("%q is not the name of a cgroup of the run %s", name, n.Run)
	}
	return nil
}

// removeCgroups removes the cgroup of this name at the top of every hierarchy,
// with those below it. A slice is stopped before.
func (n *note) removeCgroups(name string) error {
	if err := n.ownGroup(name); err != nil {
		return err
	}
	mounts, err := mounted()
	if err != nil {
		return err
	}
	errs := []error{stopSlice(name)}
	for _, h := range proc.Hierarchies(mounts) {
		errs = append(errs, removeTree(filepath.Join(h.Mount, name)))
	}
	return errors.Join(errs...)
}

// stopLimit is how long systemd may take to stop a slice.
const stopLimit = 20 * time.Second

// notLoaded is systemctl's status for a unit that systemd does not know; source: the exit
// statuses of the LSB, which systemctl(1) names.
const notLoaded = 5

// stopSlice has systemd stop a slice, which it made for the daemon's containers: one whose
// group is only removed stays loaded and active until the next boot.
func stopSlice(name string) error {
	if !strings.HasSuffix(name, ".slice") {
		return nil
	}
	program, err := exec.LookPath("systemctl")
	if err != nil {
		return nil //nolint:nilerr // without systemd there is no unit, and the group is removed
	}
	_, err = child.Run(context.Background(), child.Command{Argv: []string{program, "stop", "--", name}, Env: []string{adapter.Path}, Limit: stopLimit})
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == notLoaded {
		return nil
	}
	if err != nil {
		return fmt.Errorf("stopping %s: %w", name, err)
	}
	return nil
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
