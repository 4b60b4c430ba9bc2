package nspawn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/filelock"
	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
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
	r.lock = fmt.Sprintf("%s/inode-%d:%d", locks, st.Dev, st.Ino)
	if err := kit.Ledger.Made(r.lockThing()); err != nil {
		return nil, errors.Join(err, r.remove())
	}
	return r, nil
}

// lockThing is what the ledger says of the lock. Whoever else uses the image as
// a root directory has the same one, and keeps it while it is held.
func (r *root) lockThing() engine.Thing {
	return engine.Thing{Kind: engine.KindFile, Name: r.lock, Engine: "nspawn"}
}

func (r *root) fill(ctx context.Context, image string) error {
	if r.plain {
		out, err := child.Run(ctx, child.Command{Argv: []string{"cp", "-a", "--reflink=auto", image + "/.", r.path}, Limit: copyLimit})
		if err != nil {
			return fmt.Errorf("copying %s: %w: %s", image, err, adapter.Words(out.Stderr))
		}
		return nil
	}
	if err := r.kit.Ledger.Made(engine.Thing{Kind: engine.KindMount, Name: r.path}); err != nil {
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
	if r.lock != "" {
		if err := errors.Join(unlock(r.lock), r.kit.Ledger.Gone(r.lockThing())); err != nil {
			return err
		}
	}
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
	return errors.Join(os.RemoveAll(r.dir), r.kit.Ledger.Gone(engine.Thing{Kind: engine.KindMount, Name: r.path}))
}

// mop removes what a killed nspawn leaves: its place for mounts that come
// later, its locks, its copy. A copy does not say whose it is, so that it stays
// where there are others, until all is removed.
func (r *root) mop(name string, others bool) error {
	err := tidyPlaces(name)
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
	if filelock.TryLock(f) != nil {
		return nil
	}
	return os.Remove(path)
}
