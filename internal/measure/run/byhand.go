package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/cni"
	"plimsoll/internal/measure/engine/forward"
	"plimsoll/internal/measure/engine/private"
	"plimsoll/internal/measure/host"
	"plimsoll/internal/measure/host/proc"
)

// removeByHand removes what of a run can be removed without an engine: private
// daemons, and of processes, mounts, cgroups and links those that are proved to be
// the run's. A process that only looks like one is reported to kit.LeftAlone. Entries of the ledger that no engine
// holds are struck out when they are gone. marks are what the ledger named
// before any engine was asked. now is how the machine was found.
func removeByHand(ctx context.Context, m host.Machine, kit *engine.Kit, marks host.Marks) (removed []string, kept []engine.Kept, now *host.Census, err error) {
	removed, err = private.Sweep(ctx, kit.RunID, kit.Dir)
	errs := []error{err}
	now, err = m.Census(ctx)
	if err != nil {
		return removed, nil, nil, errors.Join(append(errs, err)...)
	}
	items := now.Since(&host.Census{}).Ours(marks)
	do := func(it host.Item, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("removing %s: %w", it, err))
			return
		}
		removed = append(removed, it.String())
	}
	for _, it := range items {
		if it.Kind == host.KindProcess && it.Proved && it.PID != os.Getpid() {
			do(it, kill(it.PID, it.Start))
		} else if it.Helper && !it.Proved && kit.LeftAlone != nil {
			kit.LeftAlone(fmt.Sprintf("%s: nothing but its name and its arguments says that it is the run's; look at it, and to end it: kill %d", it, it.PID))
		}
	}
	for _, it := range deepestFirst(items, host.KindMount) {
		err := unix.Unmount(it.Point, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EINVAL) {
			err = nil // it went with the one that it was mounted in
		}
		do(it, err)
	}
	for _, it := range deepestFirst(items, host.KindCgroup) {
		do(it, removeCgroup(it.Name))
	}
	for _, t := range engine.Of(kit.Ledger.Left(), "") {
		did, err := finish(ctx, kit, t)
		if did {
			removed = append(removed, t.String())
		}
		if err == nil {
			err = kit.Ledger.Gone(t)
		}
		if err != nil {
			kept = append(kept, engine.Kept{Thing: t, Why: err.Error()})
		}
	}
	return removed, kept, now, errors.Join(errs...)
}

// finish takes away what the census can't, and says of the rest whether it is
// gone: nil is gone.
func finish(ctx context.Context, kit *engine.Kit, t engine.Thing) (did bool, err error) {
	switch t.Kind {
	case engine.KindLink:
		return cni.Remove(ctx, kit, t)
	case engine.KindSetting:
		return cni.PutBack(ctx, kit, t)
	case engine.KindOwner:
		return adapter.PutBackOwner(t)
	case engine.KindRule:
		return forward.Remove(ctx, kit, t)
	case engine.KindMount:
		points, err := proc.Here.MountedBelow(t.Name)
		if err == nil && len(points) > 0 {
			err = errors.New("it is still mounted")
		}
		return false, err
	case engine.KindCgroup, engine.KindNetNS:
		if _, err := os.Lstat(t.Name); !errors.Is(err, os.ErrNotExist) {
			return false, errors.Join(errors.New("it is still there"), err)
		}
	case engine.KindFile:
		if scratchOf(kit.RunID, t.Name) {
			_, err := os.Lstat(t.Name)
			return err == nil, safepath.RemoveAll(t.Name)
		}
		_, err := os.Lstat(t.Name)
		switch {
		case absent(err):
		case err != nil:
			return false, fmt.Errorf("looking whether it is gone: %w", err)
		case !strings.HasPrefix(t.Name, kit.Dir+"/"):
			return false, errors.New("it is still there, and no engine is known that would remove it")
		}
	}
	// The rest are processes, which the census has ended, and daemons with
	// their file systems, which have their own account in the run's folder.
	return false, nil
}

// scratchOf says whether a path is where a launcher of this run kept its files.
func scratchOf(runID, path string) bool {
	return runID != "" && filepath.Dir(path) == scratchParent && strings.HasPrefix(filepath.Base(path), "plimsoll-"+runID+"-")
}

// deepestFirst gives the items of one kind that may be taken away, so that a
// child comes before its parent.
func deepestFirst(items host.Residue, kind host.Kind) host.Residue {
	var of host.Residue
	for _, it := range items {
		if it.Kind == kind && it.Proved {
			of = append(of, it)
		}
	}
	// A mount's name has more than its path; a control group has no other than its path.
	path := func(it host.Item) string { return cmp.Or(it.Point, it.Name) }
	slices.SortStableFunc(of, func(a, b host.Item) int { return len(path(b)) - len(path(a)) })
	return of
}

// absent says whether an error is that there is nothing of a name.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) }

// kill ends a process that began at start, and waits until it is gone.
func kill(pid int, start string) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	// Had the pid changed hands before it was held, the start would be another.
	if now, err := proc.Here.Stat(pid); err != nil || now.StartText() != start {
		return nil //nolint:nilerr // it has ended
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return err
	}
	for begin := time.Now(); ; {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 2000) // ms
		if errors.Is(err, unix.EINTR) && time.Since(begin) < 2*time.Second {
			continue // by a signal of Go's own
		}
		if err == nil && n == 0 {
			return errors.New("it does not end")
		}
		return err
	}
}

// removeCgroup removes an empty cgroup; the kernel needs a moment after its
// last process has ended.
func removeCgroup(dir string) error {
	if !strings.HasPrefix(filepath.Clean(dir), "/sys/fs/cgroup/") {
		return fmt.Errorf("%s is not a cgroup", dir)
	}
	var err error
	for wait := time.Millisecond; wait < time.Second; wait *= 2 {
		err = unix.Rmdir(dir)
		if err == nil || errors.Is(err, unix.ENOENT) {
			return nil
		}
		time.Sleep(wait)
	}
	return err
}
