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
	"plimsoll/internal/common/safepath"
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
	// view is at path; nil where the image was copied and not mounted. nspawn puts its
	// copies of a mount point into it instead of beside it.
	view  *adapter.View
	users atomic.Int32 // containers at the moment
}

// copyLimit bounds the copy of an image.
const copyLimit = 5 * time.Minute

func newRoot(ctx context.Context, kit *engine.Kit, id, image string, plain bool) (*root, error) {
	r := &root{kit: kit, dir: filepath.Join(kit.Dir, "nspawn-"+id)}
	r.path = filepath.Join(r.dir, "root")
	if err := r.fill(ctx, image, plain); err != nil {
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

func (r *root) fill(ctx context.Context, image string, plain bool) (err error) {
	if !plain {
		r.view, err = adapter.NewView(r.kit, image, r.path)
		return err
	}
	if err := os.MkdirAll(r.path, 0o755); err != nil {
		return fmt.Errorf("making a directory for systemd-nspawn: %w", err)
	}
	out, err := child.Run(ctx, child.Command{Argv: []string{"cp", "-a", "--reflink=auto", image + "/.", r.path}, Limit: copyLimit})
	if err != nil {
		return fmt.Errorf("copying %s: %w: %s", image, err, adapter.Words(out.Stderr))
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
	// Had the mount stayed, RemoveAll would reach into the image.
	if err := r.view.Remove(); err != nil {
		return err
	}
	return safepath.RemoveAll(r.dir)
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
			err = errors.Join(err, safepath.RemoveAll(filepath.Join(r.dir, e.Name())))
		}
	}
	return errors.Join(err, unlock(r.lock))
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
