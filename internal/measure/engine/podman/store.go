package podman

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/private"
	"plimsoll/internal/measure/host/proc"
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

// driverOf is the driver of the store of ours that an environment has; the default level
// where it has the user's own store. Builds of podman share one of ours: another version
// may write what the user's own can't read.
func driverOf(kit *engine.Kit, spec engine.Spec) string {
	if l := spec.Level(engine.Storage); l != engine.DefaultLevel || kit.Built(Name) == "" {
		return l
	}
	return overlay
}

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
	dir, run := storeDir(kit, p, driver), runRoot(kit, p, driver)
	if len(run) > maxRunRoot {
		return &engine.Error{Class: record.Unavailable,
			Text: fmt.Sprintf("podman takes no --runroot of over %d bytes, as %s is: the runtime directory's name is too long", maxRunRoot, run)}
	}
	for _, d := range []string{dir, run} {
		if err := kit.Ledger.Made(p.thing(engine.KindFile, d)); err != nil {
			return err
		}
		if err := adapter.OwnDirMode(d, p.as, kit, 0o700); err != nil {
			return fmt.Errorf("making a store for podman: %w", err)
		}
	}
	p.store = store{driver: driver, root: filepath.Join(dir, "root"), run: run}
	if driver == btrfs {
		fs := e.fs[dir]
		if fs == nil {
			var err error
			if fs, err = private.MakeFileSystem(ctx, kit, fsName(p), btrfs, fsBytes); err != nil {
				return err
			}
			e.fs[dir] = fs
		}
		p.store.fs, p.store.root = fs, filepath.Join(fs.Path, "root")
	}
	if err := p.configureStore(kit); err != nil {
		return err
	}
	return p.onStore(kit)
}

// onStore adds the options of the store of ours that was chosen.
func (p *program) onStore(kit *engine.Kit) error {
	p.ownFrom, p.told = len(p.global), true
	p.global = append(p.global, "--root", p.store.root, "--runroot", p.store.run, "--storage-driver", p.store.podmans())
	for _, o := range p.storeOptions() {
		p.global = append(p.global, "--storage-opt", o)
	}
	if p.store.driver == fuseOverlay {
		path, err := kit.LookPath(fuseOverlay)
		if err != nil {
			return &engine.Error{Class: record.Unavailable, Text: "finding fuse-overlayfs", Fix: "apt-get install fuse-overlayfs", Err: err}
		}
		p.global = append(p.global, "--storage-opt", "overlay.mount_program="+path)
	}
	return nil
}

// runRoot is where what is volatile of a store of this run lies.
func runRoot(kit *engine.Kit, p *program, driver string) string {
	return filepath.Join(p.runDir(), fmt.Sprintf("plimsoll-%s-%c%s", kit.RunID, driver[0], p.conf))
}

// fsName is the name of the file system that a store lies on, where it has one
// of ours.
func fsName(p *program) string { return "podman-" + p.who() + p.ofConf() }

func storeDir(kit *engine.Kit, p *program, driver string) string {
	return filepath.Join(kit.Dir, "podman-"+driver+"-"+p.who()+p.ofConf())
}

// plain is p on the user's own store.
func (p *program) plain() *program {
	if !p.store.own() {
		return p
	}
	q := *p
	q.global = p.global[:p.ownFrom:p.ownFrom]
	q.env = slices.DeleteFunc(slices.Clone(p.env), func(v string) bool { return strings.HasPrefix(v, storageVariable) })
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

// removeStore takes a store of ours away, with what is mounted in it. An
// ordinary user's files belong to ids that only the user's own namespace may
// touch, hence `podman unshare`; the driver's mount lies there too. These
// commands are run on the user's own store: on ours, podman would mount it
// again before each.
func (p *program) removeStore(ctx context.Context, kit *engine.Kit) error {
	dir := storeDir(kit, p, p.store.driver)
	if err := p.unmountBelow(ctx, p.store.root, p.store.run); err != nil {
		return err
	}
	var errs, refused []error
	if p.user != nil {
		for _, d := range []string{p.store.root, p.store.run} {
			if _, err := p.plain().output(ctx, "unshare", "rm", "-rf", "--one-file-system", "--", d); err != nil {
				refused = append(refused, wrong("removing the store "+d, err))
			}
		}
	}
	if p.store.fs != nil {
		errs = append(errs, p.store.fs.Close(ctx))
	}
	for _, d := range []string{dir, p.store.run} {
		if err := adapter.RemoveDir(d, p.as, kit); err != nil {
			// What the user could not remove, such as a store out of reach, root may have.
			errs = append(errs, errors.Join(refused...), fmt.Errorf("removing podman's store: %w", err))
			refused = nil
			continue
		}
		errs = append(errs, kit.Ledger.Gone(p.thing(engine.KindFile, d)))
	}
	return errors.Join(errs...)
}

// unmountBelow unmounts what is mounted at or below directories of ours, in the
// namespace in which podman mounts. Links may lead to them: to a user's runtime directory
// that is named by /var/run, for one.
func (p *program) unmountBelow(ctx context.Context, dirs ...string) error {
	mounts, err := p.mounts(ctx)
	if err != nil {
		return fmt.Errorf("looking for the mounts of podman's store: %w", err)
	}
	names, err := p.namesOf(dirs)
	if err != nil {
		return fmt.Errorf("looking for the mounts of podman's store: %w", err)
	}
	for _, point := range slices.Backward(proc.Below(mounts, names...)) {
		if p.user != nil {
			_, err = p.plain().output(ctx, "unshare", "umount", "--", point)
		} else if err = unix.Unmount(point, unix.UMOUNT_NOFOLLOW); errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOENT) {
			err = nil // it went with another
		}
		if err != nil {
			return fmt.Errorf("unmounting %s: %w", point, err)
		}
	}
	return nil
}

// namesOf are those by which the kernel may name directories, as whoever podman runs as
// finds them. Who may not go the way to one has mounted nothing by a link on it.
func (p *program) namesOf(dirs []string) (names []string, err error) {
	err = p.asUser(func() error {
		for _, dir := range dirs {
			of, err := proc.Names(dir)
			switch {
			case errors.Is(err, fs.ErrPermission):
				of = []string{dir}
			case err != nil:
				return err
			}
			names = append(names, of...)
		}
		return nil
	})
	return names, err
}

// mounts lists those of the namespace in which podman mounts.
func (p *program) mounts(ctx context.Context) ([]*proc.Mount, error) {
	if p.user == nil {
		return proc.Here.Mounts(proc.Self)
	}
	text, err := p.plain().output(ctx, "unshare", "cat", "/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	return proc.ParseMounts(string(text))
}
