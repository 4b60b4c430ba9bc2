package baseline

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"plimsoll/internal/engine"
)

// root is an image's directory, read-only, with /proc in it, at a place of the
// run's own: the directory itself is shared and nothing is mounted in it.
type root struct {
	path   string
	mounts []string // in the order in which they were made
	kit    *engine.Kit
}

func newRoot(kit *engine.Kit, dir string) (*root, error) {
	path, err := os.MkdirTemp(kit.Dir, "native-")
	if err != nil {
		return nil, fmt.Errorf("making a root directory: %w", err)
	}
	r := &root{path: path, kit: kit}
	err = r.mount(dir, path, "", unix.MS_BIND)
	if err == nil {
		// A bind mount takes MS_RDONLY only when it is mounted again, see
		// mount(2). Read-only, no clean-up can ever reach the shared files
		// through it.
		err = mountError(path, unix.Mount("", path, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	}
	if err == nil {
		err = mountError(path, unix.Mount("", path, "", unix.MS_PRIVATE, ""))
	}
	if err == nil {
		err = r.mount("proc", path+"/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC)
	}
	if err != nil {
		return nil, errors.Join(err, r.remove())
	}
	return r, nil
}

func (r *root) mount(source, target, kind string, flags uintptr) error {
	if err := r.kit.Ledger.Made("mount", target); err != nil {
		return err
	}
	if err := unix.Mount(source, target, kind, flags, ""); err != nil {
		return errors.Join(mountError(target, err), r.kit.Ledger.Gone("mount", target))
	}
	r.mounts = append(r.mounts, target)
	return nil
}

func mountError(target string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("mounting %s: %w", target, err)
}

// remove undoes newRoot; it may be called twice. The directory is removed only
// when it is empty, that is, when nothing is mounted there any more.
func (r *root) remove() error {
	var errs []error
	for len(r.mounts) > 0 {
		last := r.mounts[len(r.mounts)-1]
		if err := unix.Unmount(last, unix.UMOUNT_NOFOLLOW|unix.MNT_DETACH); err != nil {
			errs = append(errs, fmt.Errorf("unmounting %s: %w", last, err))
			break
		}
		errs = append(errs, r.kit.Ledger.Gone("mount", last))
		r.mounts = r.mounts[:len(r.mounts)-1]
	}
	if err := os.Remove(r.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
