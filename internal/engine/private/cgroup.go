package private

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// removeCgroups removes the cgroup of this name at the top of every hierarchy,
// with those below it.
func removeCgroups(name string) error {
	if name == "" || strings.Trim(name, "./") == "" || strings.Contains(name, "..") {
		return fmt.Errorf("%q is no name of a cgroup of ours", name)
	}
	mounts, err := mountsWith("/")
	if err != nil {
		return err
	}
	var errs []error
	for _, m := range mounts {
		if m.fs == "cgroup" || m.fs == "cgroup2" {
			errs = append(errs, removeTree(filepath.Join(m.point, name)))
		}
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
