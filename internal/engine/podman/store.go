package podman

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"plimsoll/internal/engine"
	"plimsoll/internal/engine/private"
	"plimsoll/internal/record"
)

// The storage drivers that can be asked for. fuse-overlayfs is the driver
// overlay with another program to mount.
const (
	overlay     = "overlay"
	vfs         = "vfs"
	fuseOverlay = "fuse-overlayfs"
	btrfs       = "btrfs" // on a file system of ours
	zfs         = "zfs"
)

// store is where podman keeps images and containers. The zero value is the
// user's own.
type store struct {
	driver, root, run string
	fs                *private.FileSystem // that it lies on, where we made one
}

// fsBytes is the size of the sparse file of a file system of ours: room for a
// few images.
const fsBytes = 8 << 30

func (s store) own() bool { return s.root != "" }

// maxRunRoot is the longest --runroot that podman takes, bytes.
const maxRunRoot = 50

// useStore gives podman a store of ours with this driver. The images lie
// below the run's directory; what is volatile lies where podman has it too,
// and is short, since podman refuses a --runroot of over 50 bytes.
//
// Its --tmpdir stays the user's: with one of its own, podman takes the machine
// for freshly booted and frees all locks of the user's running containers.
func (e *Engine) useStore(ctx context.Context, kit *engine.Kit, p *program, driver string) error {
	dir := storeDir(kit, p, driver)
	run := "/run"
	if p.user != nil {
		run = p.user.RuntimeDir
	}
	run = filepath.Join(run, fmt.Sprintf("plimsoll-%s-%c", kit.RunID, driver[0]))
	if len(run) > maxRunRoot {
		return &engine.Error{Class: record.Unavailable,
			Text: fmt.Sprintf("podman takes no --runroot of over %d bytes, as %s is: the runtime directory's name is too long", maxRunRoot, run)}
	}
	for _, d := range []string{dir, run} {
		if err := kit.Ledger.Made("file", d); err != nil {
			return err
		}
		if err := os.MkdirAll(d, 0o700); err != nil {
			return fmt.Errorf("making a store for podman: %w", err)
		}
		if p.as != nil {
			if err := os.Chown(d, p.as.UID, p.as.GID); err != nil {
				return fmt.Errorf("making a store for podman: %w", err)
			}
		}
	}
	p.store = store{driver: driver, root: filepath.Join(dir, "root"), run: run}
	if driver == btrfs {
		fs := e.fs[dir]
		if fs == nil {
			var err error
			if fs, err = private.MakeFileSystem(ctx, kit, "podman-"+p.who(), btrfs, fsBytes); err != nil {
				return err
			}
			e.fs[dir] = fs
		}
		p.store.fs, p.store.root = fs, filepath.Join(fs.Path, "root")
	}
	name := driver
	if driver == fuseOverlay {
		name = overlay
	}
	p.ownFrom, p.told = len(p.global), true
	p.global = append(p.global, "--root", p.store.root, "--runroot", run, "--storage-driver", name)
	if driver == fuseOverlay {
		path, err := kit.LookPath(fuseOverlay)
		if err != nil {
			return &engine.Error{Class: record.Unavailable, Text: "finding fuse-overlayfs", Fix: "apt-get install fuse-overlayfs", Err: err}
		}
		p.global = append(p.global, "--storage-opt", "overlay.mount_program="+path)
	}
	return nil
}

func storeDir(kit *engine.Kit, p *program, driver string) string {
	return filepath.Join(kit.Dir, "podman-"+driver+"-"+p.who())
}

// plain is p on the user's own store.
func (p *program) plain() *program {
	if !p.store.own() {
		return p
	}
	q := *p
	q.global = p.global[:p.ownFrom:p.ownFrom]
	q.store = store{}
	return &q
}

// holdStore is useStore, for one more environment: those of the same driver
// and user share a store, and the last one takes it away.
func (e *Engine) holdStore(ctx context.Context, kit *engine.Kit, p *program, driver string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	err := e.useStore(ctx, kit, p, driver)
	if p.store.own() {
		e.stores[p.store.root]++
	}
	return err
}

// dropStore undoes holdStore.
func (e *Engine) dropStore(ctx context.Context, kit *engine.Kit, p *program) error {
	if !p.store.own() {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stores[p.store.root]--; e.stores[p.store.root] > 0 {
		return nil
	}
	delete(e.stores, p.store.root)
	delete(e.fs, storeDir(kit, p, p.store.driver))
	return p.removeStore(ctx, kit)
}

// removeStore takes a store of ours away. An ordinary user's files belong to
// ids that only the user's own namespace may touch, hence `podman unshare`;
// the driver's mount lies there too. Both commands are run on the user's own
// store: on ours, podman would mount it again before each.
func (p *program) removeStore(ctx context.Context, kit *engine.Kit) error {
	var errs []error
	mounted := filepath.Join(p.store.root, "overlay")
	if p.store.fs != nil {
		mounted = filepath.Join(p.store.root, p.store.driver)
	}
	if p.user != nil {
		plain := p.plain()
		_, _ = plain.output(ctx, "unshare", "umount", mounted) // not every driver mounts
		if _, err := plain.output(ctx, "unshare", "rm", "-rf", "--one-file-system", p.store.root); err != nil {
			errs = append(errs, wrong("removing the store "+p.store.root, err))
		}
	} else if err := unix.Unmount(mounted, 0); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
		errs = append(errs, fmt.Errorf("unmounting %s: %w", mounted, err))
	}
	if p.store.fs != nil {
		errs = append(errs, p.store.fs.Close(ctx))
	}
	for _, d := range []string{storeDir(kit, p, p.store.driver), p.store.run} {
		if err := os.RemoveAll(d); err != nil {
			errs = append(errs, fmt.Errorf("removing podman's store: %w", err))
			continue
		}
		errs = append(errs, kit.Ledger.Gone("file", d))
	}
	return errors.Join(errs...)
}
