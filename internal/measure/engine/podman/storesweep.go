package podman

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/private"
	"plimsoll/internal/measure/host/proc"
)

// storeOf gives podman on the store of ours that a directory of the ledger's
// belongs to: its name is made as useStore makes it, of the run's folder, id,
// driver, user and storage.conf, and anything else is none.
func (p *program) storeOf(kit *engine.Kit, dir string) (*program, error) {
	for _, driver := range []string{overlay, vfs, fuseOverlay, btrfs, zfs} {
		conf, ok := confOf(dir, storeDir(kit, p, driver), "-")
		if !ok {
			conf, ok = confOf(p.inRunDir(dir), runRoot(kit, p, driver), "")
		}
		if !ok {
			continue
		}
		q := *p
		q.conf = conf
		p := &q
		q.global = append([]string(nil), p.global...)
		q.store = store{driver: driver, root: filepath.Join(storeDir(kit, p, driver), "root"), run: runRoot(kit, p, driver)}
		if driver == btrfs {
			q.store.root = filepath.Join(private.MountPoint(kit, fsName(p)), "root")
		}
		return &q, q.onStore(kit)
	}
	return nil, fmt.Errorf("%s is not a store of podman's of the run %s", dir, kit.RunID)
}

// commandsEnd is how long a podman that was under way when its run was killed
// may take to end, once its container is gone.
const commandsEnd = 5 * time.Second

// inRunDir is a path in the runtime directory as this podman has that: the run that was
// killed may have had it by a link, such as /var/run. Any other path stays what it is.
func (p *program) inRunDir(path string) string {
	_ = p.asUser(func() error { // what can't be looked at is not the same
		theirs, terr := os.Stat(filepath.Dir(path))
		ours, err := os.Stat(p.runDir())
		if err == nil && terr == nil && os.SameFile(theirs, ours) {
			path = filepath.Join(p.runDir(), filepath.Base(path))
		}
		return nil
	})
	return path
}

// sweepStore clears away what a killed run has left of a store of this run. Podman
// does it as long as it knows the containers: then it cleans their networks,
// cgroups and locks up. What it has forgotten is told by its runtime and by the
// bundles. While there are containers the store stays, as what they are found by.
func (p *program) sweepStore(ctx context.Context, kit *engine.Kit) error {
	names, ids := p.namespaces(), p.ids() // of containers that podman forgets without them, too
	err := p.clear(ctx, kit)
	for again := 0; again < 2 && (p.endCommands(ctx) || err != nil); again++ {
		// What was under way may have made another container meanwhile; what
		// podman stumbled over its runtime has removed, or is mounted still.
		names, ids = append(names, p.namespaces()...), append(ids, p.ids()...)
		if err != nil {
			_ = p.unmountBelow(ctx, p.store.root, p.store.run) // what is busy, podman will tell
		}
		err = p.clear(ctx, kit)
	}
	if err == nil {
		err = p.removeNamespaces(ctx, names)
	}
	if err == nil {
		err = p.removeForGood(ctx, kit)
	}
	for _, id := range ids {
		err = errors.Join(err, p.dropExit(id))
	}
	return err
}

// ids are those of the containers of a store, by the directories of their bundles.
func (p *program) ids() (ids []string) {
	_ = p.asUser(func() error { // without bundles there are none
		dirs, err := filepath.Glob(filepath.Join(p.store.root, "*-containers", "*", "userdata"))
		for _, dir := range dirs {
			ids = append(ids, filepath.Base(filepath.Dir(dir)))
		}
		return err
	})
	return ids
}

// removeForGood removes the store, and again where a monitor that saw its
// container end has called one more podman meanwhile: that makes the run root
// anew. Between two programs of one process nothing says on what it works, so
// that it is looked for twice.
func (p *program) removeForGood(ctx context.Context, kit *engine.Kit) error {
	const times, pause = 5, 50 * time.Millisecond
	for again := 1; ; again++ {
		if err := p.removeStore(ctx, kit); err != nil {
			return err
		}
		late := p.endCommands(ctx)
		if !engine.Pause(ctx, pause) {
			return ctx.Err()
		}
		late = p.endCommands(ctx) || late
		if _, err := os.Lstat(p.store.run); errors.Is(err, fs.ErrNotExist) && !late {
			return nil
		}
		if again == times {
			return fmt.Errorf("the store %s comes back when it is removed: something still works on it", p.store.run)
		}
	}
}

// clear removes the containers of the store.
func (p *program) clear(ctx context.Context, kit *engine.Kit) error {
	err := p.forget(ctx)
	return errors.Join(err, p.orphans(ctx, kit), p.dropStates(""))
}

// endCommands waits for the podmans that still work on the store, and for the
// monitors that will call one when their container has ended; it ends those
// that don't end. It says whether there were any.
func (p *program) endCommands(ctx context.Context) bool {
	arg := []byte("\x00" + p.store.run + "\x00") // of --runroot, and of a monitor's --exit-command-arg
	were, still := p.await(ctx, commandsEnd, func(line []byte) bool { return bytes.Contains(line, arg) })
	for pid, line := range still {
		_ = p.endService(pid, line) // what stays, podman will tell
	}
	return were
}

// await waits, for so long at most, until no process of the run's and of this podman's
// user has such a command line. It returns whether there were any, and which still are.
func (p *program) await(ctx context.Context, most time.Duration, is func(line []byte) bool) (were bool, working map[int][]byte) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for ; ; were = true {
		working = map[int][]byte{}
		for pid, line := range adapter.CommandLines() {
			if is(line) && adapter.RunsAs(pid, p.uid()) && proc.Here.Inherited(pid, p.mark) {
				working[pid] = line
			}
		}
		if len(working) == 0 {
			return were, nil
		}
		if !engine.Pause(ctx, 20*time.Millisecond) {
			return true, working
		}
	}
}

// forget lets podman remove all containers of a store of this run. A kill in the
// midst of the store's making or removal leaves a podman that can't; then what
// it held is told by its runtime.
func (p *program) forget(ctx context.Context) error {
	there := false
	_ = p.asUser(func() error { // what is not there has no containers
		for _, name := range []string{"libpod/bolt_state.db", "db.sql"} {
			_, err := os.Lstat(filepath.Join(p.store.root, name))
			there = there || err == nil
		}
		return nil
	})
	if !there {
		return nil
	}
	var list []struct {
		ID string `json:"Id"`
	}
	if err := p.read(ctx, &list, "ps", "--all", "--external", "--format", "json"); err != nil {
		return nil //nolint:nilerr // the store is broken, and goes whole
	}
	var errs []error
	for _, c := range list {
		if _, err := p.output(ctx, "rm", "--force", "--time", "0", "--volumes", c.ID); err != nil {
			errs = append(errs, wrong("removing the container "+c.ID+" of a store of this run", err))
		}
	}
	return errors.Join(errs...)
}

// maxState bounds what is read of a runtime's state: a specification is in it.
const maxState = 4 << 20

// orphans removes the containers of a store of this run that podman has forgotten
// and its runtime still has. They bear podman's random ids; that they are ours
// is told by the runtime's own state, whose bundle lies in the store.
func (p *program) orphans(ctx context.Context, kit *engine.Kit) error {
	ours := func(_ string, text []byte) bool { return tellsBundle(string(text), p.store.root+"/") }
	var errs []error
	for name, files := range runtimes {
		for _, dir := range p.entries(filepath.Join(p.runDir(), name), files.state, ours) {
			errs = append(errs, p.deleteOrphan(ctx, kit, name, dir))
		}
	}
	return errors.Join(errs...)
}

// tellsBundle says whether a runtime's state has a bundle below a directory:
// crun's as a key, runc's as a label.
func tellsBundle(state, below string) bool {
	return slices.ContainsFunc([]string{`"bundle":"`, `"bundle": "`, `"bundle" : "`, `"bundle=`},
		func(before string) bool { return strings.Contains(state, before+below) })
}

func readState(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fs.ErrInvalid)
	}
	return io.ReadAll(io.LimitReader(f, maxState))
}

// deleteOrphan lets the runtime remove a container, as the user whose it is.
func (p *program) deleteOrphan(ctx context.Context, kit *engine.Kit, name, dir string) error {
	what := "removing a container of a store of this run from " + dir
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	path, err := kit.LookPath(name)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	out, err := child.Run(ctx, child.Command{Argv: []string{path, "delete", "--force", filepath.Base(dir)}, Env: p.env, Dir: "/",
		User: adapter.Credential(p.as), Together: true})
	if _, gone := os.Lstat(dir); err != nil && !errors.Is(gone, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w: %s", what, err, adapter.Words(out.Stdout))
	}
	return nil
}
