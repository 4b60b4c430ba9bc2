package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/engine"
	"plimsoll/internal/engine/private"
	"plimsoll/internal/host"
)

// engineSweepLimit bounds what one engine may take to list and remove.
const engineSweepLimit = time.Minute

// SweepRun removes whatever the engines still hold of the kit's run (of any
// run where the kit has no run id). One engine that fails does not stop the
// others.
func SweepRun(ctx context.Context, kit *engine.Kit, engines []engine.Engine) error {
	_, err := Sweep(ctx, kit, engines)
	return err
}

// Sweep is SweepRun and tells what was removed.
func Sweep(ctx context.Context, kit *engine.Kit, engines []engine.Engine) ([]string, error) {
	var removed []string
	var errs []error
	for _, e := range engines {
		gone, err := sweepEngine(ctx, kit, e)
		removed = append(removed, gone...)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", e.Info().Name, err))
		}
	}
	return removed, errors.Join(errs...)
}

func sweepEngine(ctx context.Context, kit *engine.Kit, e engine.Engine) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, engineSweepLimit)
	defer cancel()
	left, err := e.Leftovers(ctx, kit, kit.RunID)
	if kit.RunID == "" && err != nil && !e.Detect(ctx, kit).Usable {
		err = nil // nobody here can use it, so nothing of it can be taken away
	}
	errs := []error{err}
	var removed []string
	for _, l := range left {
		if err := l.Remove(ctx); err != nil {
			errs = append(errs, fmt.Errorf("removing %s %s: %w", l.Kind, l.Name, err))
			continue
		}
		removed = append(removed, l.Kind+" "+l.Name)
	}
	return removed, errors.Join(errs...)
}

// audit looks at the machine as the user would: what is new since before, of
// ours and of others. Ours is then removed as far as that is possible without
// an engine, and what stays is the residue.
func audit(ctx context.Context, before *host.Census, kit *engine.Kit) (residue, others []string, err error) {
	names, err := ledgerNames(kit.Dir)
	if err != nil {
		return nil, nil, err
	}
	marks := host.Marks{RunID: kit.RunID, Dir: kit.Dir, Names: names}
	// Daemons and the kernel take things away behind the scenes: give them a
	// moment before anything is called left behind.
	var found host.Residue
	for wait := 10 * time.Millisecond; ; wait *= 2 {
		now, err := host.Machine{}.Census(ctx)
		if err != nil {
			return nil, nil, err
		}
		all := now.Since(before)
		all.Ours(marks)
		found, others = nil, nil
		for _, it := range all {
			if it.Certain {
				found = append(found, it)
			} else {
				others = append(others, it.String())
			}
		}
		if len(found) == 0 || wait > time.Second || ctx.Err() != nil {
			break
		}
		time.Sleep(wait)
	}
	for _, it := range found {
		residue = append(residue, it.String())
	}
	return residue, others, nil
}

// RemoveByHand removes what of a run can be removed without its engine:
// private daemons, processes, mounts below its folder, cgroups that bear its
// name, and those of these that its ledger names. It is for runs that were
// killed.
func RemoveByHand(ctx context.Context, runID, dir string) ([]string, error) {
	names, err := ledgerNames(dir)
	errs := []error{err} // what bears the run's id is found without
	removed, err := private.Sweep(ctx, runID, dir)
	errs = append(errs, err)
	nothing := &host.Census{}
	now, err := host.Machine{}.Census(ctx)
	if err != nil {
		return removed, errors.Join(append(errs, err)...)
	}
	items := now.Since(nothing).Ours(host.Marks{RunID: runID, Dir: dir, Names: names})
	do := func(it host.Item, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("removing %s: %w", it, err))
			return
		}
		removed = append(removed, it.String())
	}
	for _, it := range items {
		if it.Kind == host.KindProcess && it.Certain && it.PID != os.Getpid() {
			do(it, kill(it.PID))
		}
	}
	for _, it := range deepestFirst(items, host.KindMount) {
		err := unix.Unmount(mountPoint(it), unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EINVAL) {
			err = nil // it went with the one that it was mounted in
		}
		do(it, err)
	}
	for _, it := range deepestFirst(items, host.KindCgroup) {
		do(it, removeCgroup(it.Name))
	}
	return removed, errors.Join(errs...)
}

// deepestFirst gives the items of one kind so that a child comes before its
// parent.
func deepestFirst(items host.Residue, kind host.Kind) host.Residue {
	var of host.Residue
	for _, it := range items {
		if it.Kind == kind {
			of = append(of, it)
		}
	}
	// By the path alone: what is said of a mount behind it is no depth.
	sort.SliceStable(of, func(i, k int) bool { return len(mountPoint(of[i])) > len(mountPoint(of[k])) })
	return of
}

// mountPoint is the path of a mount in a census: what stands before the
// parenthesis that tells its type.
func mountPoint(it host.Item) string {
	i := strings.LastIndex(it.Name, " (")
	if i < 0 {
		return it.Name
	}
	return it.Name[:i]
}

// kill ends a process and waits until it is gone.
func kill(pid int) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return err
	}
	const patience = 2000 // ms
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, patience)
	if err == nil && n == 0 {
		return errors.New("it does not end")
	}
	return err
}

// removeCgroup removes an empty cgroup; the kernel needs a moment after its
// last process has ended.
func removeCgroup(dir string) error {
	if !strings.HasPrefix(filepath.Clean(dir), "/sys/fs/cgroup/") {
		return fmt.Errorf("%s is no cgroup", dir)
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
