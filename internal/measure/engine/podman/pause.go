package podman

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/host/proc"
)

// pause is a user's pause process: it holds the user and mount namespaces in
// which all of the user's rootless containers are managed, and stays by design.
type pause struct {
	file  string
	users int
	// since is when the first environment of this run was opened, in ticks since
	// the machine's start, where there was none then: one that has begun since
	// is ours. Else it is 0.
	since uint64
}

// pauseFile is where podman keeps its pid, in the user's runtime directory.
const pauseFile = "libpod/tmp/pause.pid"

// pauseOf looks whether the user has one now.
func pauseOf(kit *engine.Kit, user *engine.User) *pause {
	h := &pause{file: filepath.Join(user.RuntimeDir, pauseFile)}
	if _, alive := h.process(kit, user); !alive {
		h.since = ticks()
	}
	return h
}

// HoldPause must come before Podman's command is used as an ordinary user
// without an environment. The function that it gives ends the pause process
// which has come up since, where there was none before; running says whether a
// container of the user's, in whatever store, runs by then: it would lose its
// namespaces.
func HoldPause(kit *engine.Kit, user *engine.User) (letGo func(running bool) error) {
	h := pauseOf(kit, user)
	return func(running bool) error {
		if running || h.since == 0 {
			return nil
		}
		return h.end(kit, user)
	}
}

// holdPause must come before the first command of an environment.
func (e *Engine) holdPause(kit *engine.Kit, p *program) {
	if p.user == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	h := e.pauses[p.user.RuntimeDir]
	if h == nil {
		h = pauseOf(kit, p.user)
		e.pauses[p.user.RuntimeDir] = h
	}
	h.users++
}

// letGo ends the pause process when the last environment is closed, where
// this run has brought it up and no container of the user's is left.
func (e *Engine) letGo(ctx context.Context, kit *engine.Kit, p *program) error {
	if p.user == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	h := e.pauses[p.user.RuntimeDir]
	if h.users--; h.users > 0 {
		return nil
	}
	delete(e.pauses, p.user.RuntimeDir)
	if h.since == 0 {
		return nil
	}
	var running []struct{ ID string }
	// Asked of the user's own store: one of ours is gone by now.
	if err := p.plain().read(ctx, &running, "ps", "--format", "json"); err != nil {
		return wrong("listing the containers of "+p.who(), err)
	}
	if len(running) > 0 {
		return nil
	}
	return h.end(kit, p.user)
}

// maxPID bounds what is read of the file: it is the user's.
const maxPID = 32

// process gives the pid in the user's file, and whether there is such a
// process. That it is the pause process is not said with it.
func (h *pause) process(kit *engine.Kit, user *engine.User) (pid int, alive bool) {
	var text []byte
	err := adapter.AsUser(user, kit, func() error {
		f, err := os.OpenFile(h.file, os.O_RDONLY|unix.O_NONBLOCK, 0) // nobody may write where it is a pipe
		if err != nil {
			return err
		}
		defer f.Close()
		if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
			return errors.Join(err, fs.ErrInvalid)
		}
		text, err = io.ReadAll(io.LimitReader(f, maxPID))
		return err
	})
	if err != nil {
		return 0, false
	}
	pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 1 {
		return 0, false
	}
	_, err = os.Stat(fmt.Sprintf("/proc/%d", pid))
	return pid, err == nil
}

// end kills the process, where it is a pause process of this user's that began
// with this run: by a pidfd taken before it was looked at, so that it can't be
// another one, and with no more than the user's rights.
func (h *pause) end(kit *engine.Kit, user *engine.User) error {
	pid, alive := h.process(kit, user)
	if !alive {
		return nil
	}
	what := func(err error) error { return fmt.Errorf("ending podman's pause process %d: %w", pid, err) }
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return what(err)
	}
	defer unix.Close(fd)
	if !isPause(pid, user.UID, h.since) {
		return nil
	}
	err = adapter.AsUser(user, kit, func() error { return unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) })
	if err != nil && !errors.Is(err, unix.ESRCH) {
		return what(err)
	}
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	const patience = 2 * time.Second
	for begin := time.Now(); time.Since(begin) < patience; { // a signal of Go's own breaks it off
		if _, err := unix.Poll(fds, int(patience.Milliseconds())); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if now, _ := h.process(kit, user); now != pid {
		return nil // podman has begun another
	}
	err = adapter.AsUser(user, kit, func() error { return os.Remove(h.file) })
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return what(err)
	}
	return nil
}

// isPause says whether a process is a pause process of podman's: of this user,
// begun at or after a moment, holding a user namespace that the user has made.
func isPause(pid, uid int, since uint64) bool {
	name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	known := false
	switch strings.TrimSpace(string(name)) {
	case "podman", "podman pause", "catatonit":
		base, _, _ := strings.Cut(filepath.Base(exe), " ") // "podman (deleted)" after an upgrade
		known = strings.HasPrefix(base, "podman") || base == "catatonit"
	}
	return known && since > 0 && began(pid) >= since && adapter.RunsAs(pid, uid) && ownsNamespace(pid, uid)
}

// nsGetOwnerUID is the request NS_GET_OWNER_UID of ioctl_ns(2).
const nsGetOwnerUID = 0xb704

// ownsNamespace says whether a process is in a user namespace that this user
// has made.
func ownsNamespace(pid, uid int) bool {
	f, err := os.Open(fmt.Sprintf("/proc/%d/ns/user", pid))
	if err != nil {
		return false
	}
	defer f.Close()
	owner, err := unix.IoctlGetUint32(int(f.Fd()), nsGetOwnerUID)
	return err == nil && int(owner) == uid
}

// perSecond is the kernel's USER_HZ, in which /proc tells when a process began;
// it is the same on all machines that Linux has an ABI for but Alpha.
const perSecond = 100

// ticks is now, as began tells it.
func ticks() uint64 {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return 0 // then none is ours
	}
	return uint64(now.Nano()) / (1e9 / perSecond)
}

// began is when a process began, in ticks since
// the machine's start; 0 where it has ended.
func began(pid int) uint64 {
	p, _ := proc.Here.Stat(pid) // 0 is before all others
	return p.Start
}
