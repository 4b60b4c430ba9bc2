package podman

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// pause is a user's pause process: it holds the user and mount namespaces in
// which all of the user's rootless containers are managed, and stays by design.
type pause struct {
	file  string
	users int
	// ours: there was none when the first environment of this run was opened.
	ours bool
}

// holdPause must come before the first command of an environment.
func (e *Engine) holdPause(p *program) {
	if p.user == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	h := e.pauses[p.user.RuntimeDir]
	if h == nil {
		h = &pause{file: filepath.Join(p.user.RuntimeDir, "libpod/tmp/pause.pid")}
		_, alive := h.process()
		h.ours = !alive
		e.pauses[p.user.RuntimeDir] = h
	}
	h.users++
}

// letGo ends the pause process when the last environment is closed, where
// this run has brought it up and no container of the user's is left.
func (e *Engine) letGo(ctx context.Context, p *program) error {
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
	if !h.ours {
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
	return h.end(p.user.UID)
}

// process gives the pause process and whether it lives.
func (h *pause) process() (pid int, alive bool) {
	data, err := os.ReadFile(h.file)
	if err != nil {
		return 0, false
	}
	pid, err = strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || pid <= 1 {
		return 0, false
	}
	_, err = os.Stat(fmt.Sprintf("/proc/%d", pid))
	return pid, err == nil
}

// end kills the process, by a pidfd taken before it was looked at, so that it
// can't be another one.
func (h *pause) end(uid int) error {
	pid, alive := h.process()
	if !alive {
		return nil
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		if errors.Is(err, unix.ESRCH) {
			return nil
		}
		return fmt.Errorf("ending podman's pause process %d: %w", pid, err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Stat(fmt.Sprintf("/proc/%d", pid), &st); err != nil || int(st.Uid) != uid && st.Uid != 0 {
		return nil // it has ended, or the pid is another user's process now
	}
	name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	switch strings.TrimSpace(string(name)) {
	case "podman", "podman pause", "catatonit":
	default:
		return nil
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("ending podman's pause process %d: %w", pid, err)
	}
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	_, _ = unix.Poll(fds, int((2 * time.Second).Milliseconds()))
	if err := os.Remove(h.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("ending podman's pause process %d: %w", pid, err)
	}
	return nil
}
