package private

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine/thread"
)

// markKey is the variable that all descendants of a daemon inherit. That a
// process has it says nothing: anybody can set it. What counts is the secret
// in its value.
const markKey = "PLIMSOLL_DAEMON"

// process is one process, told from a later one with the same pid by its start
// time (field 22 of /proc/PID/stat).
type process struct {
	pid, ppid int
	start     string
	state     byte
}

func (p process) String() string {
	comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", p.pid))
	return fmt.Sprintf("%d (%s)", p.pid, strings.TrimSpace(string(comm)))
}

// readProcess reads what is known of a process; ok is false when it is gone.
func readProcess(pid int) (p process, ok bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return p, false
	}
	// The command in parentheses may hold blanks and parentheses itself.
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) < 20 {
		return p, false
	}
	p = process{pid: pid, state: f[0][0], start: string(f[19])}
	p.ppid, _ = strconv.Atoi(string(f[1]))
	return p, true
}

// family lists the living processes of a daemon: its first one, those that
// inherited the secret, those in the mount namespace that was made for it,
// those in its cgroups, and the children of all these. A container has not the
// secret, but its shim has. Nothing that was there at another boot counts.
func (n *note) family() []process {
	if n.Boot != bootID() {
		return nil
	}
	all := map[int]process{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(d))
		if p, ok := readProcess(pid); ok && p.state != 'Z' && p.state != 'X' {
			all[pid] = p
		}
	}
	delete(all, 1)
	for pid := os.Getpid(); pid != 0; { // neither ourselves nor who started us
		p, ok := all[pid]
		delete(all, pid)
		if pid = 0; ok {
			pid = p.ppid
		}
	}
	in := map[int]bool{}
	seal := n.sealed()
	for pid, p := range all {
		if pid == n.PID && p.start == n.Start || n.marked(pid) || seal(pid) || n.grouped(pid) {
			in[pid] = true
		}
	}
	for grown := true; grown; {
		grown = false
		for pid, p := range all {
			if !in[pid] && in[p.ppid] {
				in[pid], grown = true, true
			}
		}
	}
	var found []process
	for pid := range in {
		found = append(found, all[pid])
	}
	return found
}

// marked says whether a process has inherited the secret.
func (n *note) marked(pid int) bool {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00"+markKey+"="+n.mark()+"\x00"))
}

// grouped says whether a process is in a cgroup that was made for the daemon.
func (n *note) grouped(pid int) bool {
	if len(n.Cgroups) == 0 {
		return false
	}
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	for line := range strings.Lines(string(text)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) < 3 {
			continue
		}
		for _, g := range n.Cgroups {
			if n.ownGroup(g) == nil && strings.HasPrefix(f[2]+"/", "/"+g+"/") {
				return true
			}
		}
	}
	return false
}

// signal sends a signal to exactly this process: not to a later one with its
// pid. That it is gone is no error. It tells whether the kernel allowed it:
// with a uid, the signal is sent with that user's rights only.
func (p process) signal(sig unix.Signal, uid int) (allowed bool, err error) {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer unix.Close(fd)
	// The pidfd holds the process; had the pid changed hands before, the start
	// time would be another.
	if now, ok := readProcess(p.pid); !ok || now.start != p.start {
		return true, nil
	}
	err = thread.As(uid, uid, nil, func() error { return unix.PidfdSendSignal(fd, sig, nil, 0) })
	switch {
	case err == nil, errors.Is(err, unix.ESRCH):
		return true, nil
	case errors.Is(err, unix.EPERM):
		return false, nil
	}
	return false, fmt.Errorf("ending process %s: %w", p, err)
}

// killLimit bounds what a family may take to end after SIGKILL.
const killLimit = 10 * time.Second

// kill kills the processes of a daemon until there are none. One that the
// daemon's user may not kill is none of its processes.
func (n *note) kill(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, killLimit)
	defer cancel()
	for {
		var left []process
		for _, p := range n.family() {
			allowed, err := p.signal(unix.SIGKILL, n.UID)
			if err != nil {
				return err
			}
			if allowed {
				left = append(left, p)
			}
		}
		if len(left) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("these processes of the private daemon %s do not end: %v", n.label(), left)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// wait waits until the processes of a daemon have ended by themselves.
func (n *note) wait(ctx context.Context) {
	for len(n.family()) > 0 {
		select {
		case <-ctx.Done():
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}
