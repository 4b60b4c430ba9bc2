package adapter

import (
	"bytes"
	"fmt"
	"iter"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
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
		entries, _ := os.ReadDir("/proc") // where it can't be read there are none to be found
		for _, e := range entries {
			pid, err := strconv.Atoi(e.Name())
			if err != nil {
				continue
			}
			line, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
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
		all[pid] = process{parentOf(pid), line}
	}
	return all
}

// parentOf reads the fourth field of a process's stat, behind a name in
// parentheses that may hold anything.
func parentOf(pid int) int {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	f := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(f) < 2 {
		return 0
	}
	n, _ := strconv.Atoi(string(f[1])) // 0 is nobody
	return n
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
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		ids, ok := strings.CutPrefix(line, "Uid:")
		if !ok {
			continue
		}
		for _, id := range strings.Fields(ids) {
			if id != strconv.Itoa(uid) {
				return false
			}
		}
		return true
	}
	return false
}

// SignalChildren signals the children of a process: of a launcher, its job and
// what earlier jobs have left.
func SignalChildren(parent int, sig unix.Signal) {
	for pid, c := range processes() {
		if c.parent == parent {
			SignalProcess(pid, sig, func() bool { return parentOf(pid) == parent })
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
