package nspawn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/engine"
	"plimsoll/internal/engine/clirun"
)

// runDir is where nspawn keeps what is volatile.
const runDir = "/run/systemd/nspawn"

// root is the image, mounted read-only in a folder of ours: nspawn writes a
// lock file beside the directory that it is given, and the image's own lies
// among others that are shared.
type root struct {
	kit  *engine.Kit
	dir  string // of the environment
	path string // where the image is
	lock string // nspawn's lock of the directory, by its inode
	// plain: the image was copied and not mounted. nspawn puts its copies of a
	// mount point into it instead of beside it.
	plain bool
	users atomic.Int32 // containers at the moment
}

// copyLimit bounds the copy of an image.
const copyLimit = 5 * time.Minute

func newRoot(ctx context.Context, kit *engine.Kit, id, image string, plain bool) (*root, error) {
	r := &root{kit: kit, dir: filepath.Join(kit.Dir, "nspawn-"+id), plain: plain}
	r.path = filepath.Join(r.dir, "root")
	if err := os.MkdirAll(r.path, 0o755); err != nil {
		return nil, fmt.Errorf("making a directory for systemd-nspawn: %w", err)
	}
	if err := r.fill(ctx, image); err != nil {
		return nil, errors.Join(err, r.remove())
	}
	var st unix.Stat_t
	if err := unix.Stat(r.path, &st); err != nil {
		return nil, errors.Join(err, r.remove())
	}
	r.lock = fmt.Sprintf("%s/locks/inode-%d:%d", runDir, st.Dev, st.Ino)
	return r, nil
}

func (r *root) fill(ctx context.Context, image string) error {
	if r.plain {
		ctx, cancel := context.WithTimeout(ctx, copyLimit)
		defer cancel()
		if out, err := exec.CommandContext(ctx, "cp", "-a", "--reflink=auto", image+"/.", r.path).CombinedOutput(); err != nil {
			return fmt.Errorf("copying %s: %w: %s", image, err, clirun.Words(out))
		}
		return nil
	}
	if err := r.kit.Ledger.Made("mount", r.path); err != nil {
		return err
	}
	err := unix.Mount(image, r.path, "", unix.MS_BIND, "")
	if err == nil {
		// A bind mount becomes read-only only when it is mounted again, see mount(2).
		err = unix.Mount("", r.path, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, "")
	}
	if err == nil {
		err = unix.Mount("", r.path, "", unix.MS_PRIVATE, "")
	}
	if err != nil {
		return fmt.Errorf("mounting %s: %w", r.path, err)
	}
	return nil
}

// remove may be called twice. What lies beside the mount is nspawn's.
func (r *root) remove() error {
	if r.plain {
		return os.RemoveAll(r.dir)
	}
	err := unix.Unmount(r.path, unix.UMOUNT_NOFOLLOW|unix.MNT_DETACH)
	if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("unmounting %s: %w", r.path, err)
	}
	// Not by RemoveAll: had the mount stayed, it would reach into the image.
	if err := os.Remove(r.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return errors.Join(os.RemoveAll(r.dir), r.kit.Ledger.Gone("mount", r.path))
}

// mop removes what a killed nspawn leaves: its place for mounts that come
// later, its locks, its copy. A copy does not say whose it is, so that it stays
// where there are others, until all is removed.
func (r *root) mop(name string, others bool) error {
	err := removeEmpty(filepath.Join(runDir, "propagate", name))
	if others {
		return errors.Join(err, unlock(r.lock))
	}
	entries, rerr := os.ReadDir(r.dir)
	err = errors.Join(err, rerr)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".#") {
			err = errors.Join(err, os.RemoveAll(filepath.Join(r.dir, e.Name())))
		}
	}
	return errors.Join(err, unlock(r.lock))
}

func removeEmpty(dir string) error {
	if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// unlock removes a lock file that nobody holds: another run may use the same
// image.
func unlock(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return nil
	}
	return os.Remove(path)
}

// propagateLeft finds what containers of a run, or of any, have left in
// nspawn's own directory: they bear the run's id in their names.
func propagateLeft(runID string) []engine.Leftover {
	dirs, _ := filepath.Glob(filepath.Join(runDir, "propagate", "plimsoll-"+runID+"*"))
	var left []engine.Leftover
	for _, dir := range dirs {
		left = append(left, engine.Leftover{Kind: "file", Name: dir, Remove: func(context.Context) error { return removeEmpty(dir) }})
	}
	return left
}
