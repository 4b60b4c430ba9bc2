package baseline

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/thread"
)

// root is an image's directory, read-only, at a path in the run's folder, with
// /proc, /sys and /dev in it and a /work to write in: the directory itself is
// shared and nothing is mounted in it. The mounts are in the namespace of a thread:
// the host sees an empty directory there, and they are gone with the last process of
// the run, however that ends. What copies or removes a killed run's folder
// (cp -a and rm -rf go through mounts) finds the run's files only.
type root struct {
	path   string
	work   string   // the directory that is at /work
	mounts []string // in the order in which they were made
	own    int      // how many of them are there for good, not for one trial
	thread *thread.Kept
}

func newRoot(kit *engine.Kit, thread *thread.Kept, dir string) (*root, error) {
	path, err := os.MkdirTemp(kit.Dir, "native-")
	if err != nil {
		return nil, fmt.Errorf("making a root directory: %w", err)
	}
	r := &root{path: path, work: path + ".work", thread: thread}
	if err := thread.Do(func() error { return r.fill(dir) }); err != nil {
		return nil, errors.Join(err, r.remove())
	}
	r.own = len(r.mounts)
	return r, nil
}

func (r *root) fill(image string) error {
	if err := os.Mkdir(r.work, 0o777); err != nil {
		return err
	}
	// As in the image; Mkdir is subject to the umask.
	if err := os.Chmod(r.work, 0o777|os.ModeSticky); err != nil {
		return err
	}
	const plain = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	for _, m := range []struct {
		source, at, kind string
		flags            uintptr
		options          string
		then             func(at string) error
	}{
		// Read-only, no clean-up can ever reach the shared files through it.
		{image, "", "", unix.MS_BIND, "", readOnly},
		{"proc", "/proc", "proc", plain, "", nil},
		{"/sys", "/sys", "", unix.MS_BIND, "", readOnly},
		{"dev", "/dev", "tmpfs", unix.MS_NOSUID | unix.MS_NOEXEC, "mode=755", fillDev},
		{"shm", "/dev/shm", "tmpfs", plain, "mode=1777", nil},
		{r.work, "/work", "", unix.MS_BIND, "", nil},
	} {
		if m.at != "" {
			if fi, err := os.Lstat(r.path + m.at); err != nil || !fi.IsDir() {
				continue // not every image has it
			}
		}
		if err := r.mount(m.source, r.path+m.at, m.kind, m.flags, m.options); err != nil {
			return err
		}
		if m.then != nil {
			if err := m.then(r.path + m.at); err != nil {
				return err
			}
		}
	}
	return nil
}

// readOnly is its own step: a bind mount takes MS_RDONLY only when it is mounted
// again, see mount(2).
func readOnly(at string) error {
	return mountError(at, unix.Mount("", at, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
}

func fillDev(at string) error {
	return errors.Join(makeDevices(at), os.Mkdir(filepath.Join(at, "shm"), 0o755)) //nolint:gosec // as everywhere
}

// mount mounts something where nothing of it goes further.
func (r *root) mount(source, target, kind string, flags uintptr, options string) error {
	if err := unix.Mount(source, target, kind, flags, options); err != nil {
		return mountError(target, err)
	}
	r.mounts = append(r.mounts, target)
	return mountError(target, unix.Mount("", target, "", unix.MS_PRIVATE, ""))
}

func mountError(target string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("mounting %s: %w", target, err)
}

// add mounts what one trial wants.
func (r *root) add(m engine.Mount) error {
	return r.thread.Do(func() error { return r.addHere(m) })
}

func (r *root) addHere(m engine.Mount) error {
	if m.Kind == engine.Volume {
		return adapter.Unsupported("native has no volumes: it is not an engine")
	}
	at, err := r.target(m.Target)
	if err != nil {
		return err
	}
	if m.Kind == engine.Bind {
		return r.mount(m.Source, at, "", unix.MS_BIND, "")
	}
	options := "mode=1777"
	if m.SizeBytes > 0 {
		options += fmt.Sprintf(",size=%d", m.SizeBytes)
	}
	return r.mount("tmpfs", at, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options)
}

// target finds a directory in the root, whose links are its own and must not
// lead out of it.
func (r *root) target(path string) (string, error) {
	dir, err := unix.Open(r.path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", fmt.Errorf("opening %s: %w", r.path, err)
	}
	defer unix.Close(dir)
	fd, err := unix.Openat2(dir, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT})
	if errors.Is(err, unix.ENOENT) {
		return "", adapter.Unsupported(fmt.Sprintf("the image has no directory %s to mount on, and native's root is read-only", path))
	}
	if err != nil {
		return "", fmt.Errorf("looking for %s in %s: %w", path, r.path, err)
	}
	defer unix.Close(fd)
	return os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
}

// clean makes the root ready for the next trial.
func (r *root) clean() error {
	if err := r.thread.Do(r.unmount); err != nil {
		return err
	}
	entries, err := os.ReadDir(r.work)
	for _, e := range entries {
		err = errors.Join(err, safepath.RemoveAll(filepath.Join(r.work, e.Name())))
	}
	return err
}

// unmount undoes the mounts of one trial, the last first.
func (r *root) unmount() error {
	for len(r.mounts) > r.own {
		last := r.mounts[len(r.mounts)-1]
		if err := unix.Unmount(last, unix.UMOUNT_NOFOLLOW|unix.MNT_DETACH); err != nil {
			return fmt.Errorf("unmounting %s: %w", last, err)
		}
		r.mounts = r.mounts[:len(r.mounts)-1]
	}
	return nil
}

// remove undoes newRoot; it may be called twice. The kernel lets a directory go that is
// mounted on in another namespace only, and unmounts it there.
func (r *root) remove() error {
	return errors.Join(adapter.RemoveIfThere(r.path), safepath.RemoveAll(r.work))
}
