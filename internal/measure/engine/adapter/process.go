package adapter

import (
	"bytes"
	"fmt"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
	"plimsoll/internal/measure/host/proc"
)

// process is one process of the host.
type process struct {
	parent int
	argv   []byte // as in /proc: each argument with a NUL behind it
}

// CommandLines goes through the processes of the host by pid, each with its
// arguments as in /proc: with a NUL behind each. Those that end meanwhile are
// missing.
func CommandLines() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for _, pid := range proc.Here.PIDs() {
			line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			if err == nil && !yield(pid, line) {
				return
			}
		}
	}
}

// processes lists them by pid.
func processes() map[int]process {
	all := map[int]process{}
	for pid, line := range CommandLines() {
		st, _ := proc.Here.Stat(pid) // 0 is nobody's parent
		all[pid] = process{st.PPID, line}
	}
	return all
}

// FindProcess finds the process with this argument list, which holds a
// trial's random word: the payload, seen from the host. 0 where there is none,
// as with a virtual machine or a kernel of the engine's own.
func FindProcess(argv []string) int { return find(processes(), argv) }

// find prefers, of several, the one whose parent is none of them: the others
// are its children that have not yet become another program.
func find(all map[int]process, argv []string) int {
	want := []byte(strings.Join(argv, "\x00") + "\x00")
	for pid, p := range all {
		if bytes.Equal(p.argv, want) && !bytes.Equal(all[p.parent].argv, want) {
			return pid
		}
	}
	return 0
}

// FindPayload also finds a payload that has become another program: below the
// launcher, as long as each process has one child, it is the last.
func FindPayload(launcher int, argv []string) int {
	all := processes()
	if pid := find(all, argv); pid != 0 {
		return pid
	}
	children := map[int][]int{}
	for pid, p := range all {
		children[p.parent] = append(children[p.parent], pid)
	}
	pid := launcher
	for len(children[pid]) == 1 {
		pid = children[pid][0]
	}
	if len(children[pid]) > 1 || pid == launcher {
		return 0
	}
	return pid
}

// RunsAs says whether all ids of a process, the real one too, are a user's: what
// a process is called, and its arguments, anybody can choose.
func RunsAs(pid, uid int) bool {
	status, _ := proc.Here.Status(proc.PID(pid))
	ids := strings.Fields(status["Uid"])
	return len(ids) > 0 && !slices.ContainsFunc(ids, func(id string) bool { return id != strconv.Itoa(uid) })
}

// SignalChildren signals the children of a process: of a launcher, its job and
// what earlier jobs have left.
func SignalChildren(parent int, sig unix.Signal) {
	for pid, c := range processes() {
		if c.parent == parent {
			SignalProcess(pid, sig, func() bool { p, err := proc.Here.Stat(pid); return err == nil && p.PPID == parent })
		}
	}
}

// SignalProcess signals a process that is still the one that was found when it
// is held by a pidfd: a number may have become another process's.
func SignalProcess(pid int, sig unix.Signal, same func() bool) {
	if pid == 0 {
		return
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return // it has ended
	}
	defer unix.Close(fd)
	if same() {
		_ = unix.PidfdSendSignal(fd, sig, nil, 0) // where it has just ended
	}
}
