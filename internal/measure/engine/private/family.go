package private

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/thread"
	"plimsoll/internal/measure/host/proc"
)

// markKey is the variable that all descendants of a daemon inherit. That a
// process has it says nothing: anybody can set it. What counts is the secret
// in its value.
const markKey = "PLIMSOLL_DAEMON"

// process is one process, told from a later one with the same pid by its start
// time.
type process struct{ proc.Stat }

func (p process) String() string {
	return fmt.Sprintf("%d (%s)", p.PID, p.Comm)
}

// readProcess reads what is known of a process; ok is false when it is gone.
func readProcess(pid int) (p process, ok bool) {
	st, err := proc.Here.Stat(pid)
	return process{st}, err == nil
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
	for _, pid := range proc.Here.PIDs() {
		if p, ok := readProcess(pid); ok && p.State != 'Z' && p.State != 'X' {
			all[pid] = p
		}
	}
	delete(all, 1)
	for pid := os.Getpid(); pid != 0; { // neither ourselves nor who started us
		p, ok := all[pid]
		delete(all, pid)
		if pid = 0; ok {
			pid = p.PPID
		}
	}
	in := map[int]bool{}
	seal := n.sealed()
	for pid, p := range all {
		if pid == n.PID && p.StartText() == n.Start || n.marked(pid) || seal(pid) || n.grouped(pid) {
			in[pid] = true
		}
	}
	for grown := true; grown; {
		grown = false
		for pid, p := range all {
			if !in[pid] && in[p.PPID] {
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
	return proc.Here.Inherited(pid, markKey+"="+n.mark())
}

// grouped says whether a process is in a cgroup that was made for the daemon.
func (n *note) grouped(pid int) bool {
	if len(n.Cgroups) == 0 {
		return false
	}
	in, _ := proc.Here.Groups(proc.PID(pid))
	for _, g := range n.Cgroups {
		at := func(i proc.Group) bool { return proc.Under(i.Path, "/"+g) }
		if n.ownGroup(g) == nil && slices.ContainsFunc(in, at) {
			return true
		}
	}
	return false
}

// signal sends a signal to exactly this process: not to a later one with its
// pid. That it is gone is no error. It tells whether the kernel allowed it:
// with a uid, the signal is sent with that user's rights only.
func (p process) signal(sig unix.Signal, uid int) (allowed bool, err error) {
	fd, err := unix.PidfdOpen(p.PID, 0)
	if errors.Is(err, unix.ESRCH) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer unix.Close(fd)
	// The pidfd holds the process; had the pid changed hands before, the start
	// time would be another.
	if now, ok := readProcess(p.PID); !ok || now.Start != p.Start {
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

// living says whether this process, and not a later one with its pid, has yet to end.
func (p process) living() bool {
	now, ok := readProcess(p.PID)
	return ok && now.Start == p.Start && now.State != 'Z' && now.State != 'X'
}

// kill kills the processes of a daemon until there are none. One that the
// daemon's user may not kill is none of its processes. One that was killed bears no
// mark any more while it ends: it has given up its memory and its namespaces, and on a
// busy machine may have to wait for a processor for the rest.
func (n *note) kill(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, killLimit)
	defer cancel()
	var left []process
	for {
		for _, p := range n.family() {
			allowed, err := p.signal(unix.SIGKILL, n.UID)
			if err != nil {
				return err
			}
			if allowed && !slices.ContainsFunc(left, func(l process) bool { return l.PID == p.PID && l.Start == p.Start }) {
				left = append(left, p)
			}
		}
		left = slices.DeleteFunc(left, func(p process) bool { return !p.living() })
		if len(left) == 0 {
			return nil
		}
		if !engine.Pause(ctx, 10*time.Millisecond) {
			return fmt.Errorf("these processes of the private daemon %s do not end: %v", n.label(), left)
		}
	}
}

// wait waits until the processes of a daemon have ended by themselves.
func (n *note) wait(ctx context.Context) {
	for len(n.family()) > 0 {
		if !engine.Pause(ctx, 20*time.Millisecond) {
			return
		}
	}
}
