//go:build linux

package collect

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/probe"
)

// finder finds new processes. /proc is not listed for that: the kernel says
// which number it gave last, and only the new ones are looked at.
type finder struct {
	m       *machine
	loadavg file
	last    int
	young   []candidate
}

// candidate is a new process that may still turn into a payload: the runtime
// that will execute it is the same process.
type candidate struct {
	pid   int
	since int64 // ns
	next  int64 // when it is looked at again
}

const (
	// Beyond so many new numbers at once /proc is listed instead.
	maxNew = 2048
	// youth is for how long a new process is looked at again and again, in ns,
	// each time after a quarter of its age.
	youth    = int64(10e9)
	ageShare = 4
)

func newFinder(m *machine) (*finder, error) {
	f, err := openFile(m.path("/proc/loadavg"))
	if err != nil {
		return nil, err
	}
	return &finder{m: m, loadavg: f}, nil
}

// begin forgets what is there already.
func (f *finder) begin(buf []byte) {
	if n, ok := f.newest(buf); ok {
		f.last = n
	}
	f.young = f.young[:0]
}

func (f *finder) newest(buf []byte) (int, bool) {
	b, err := f.loadavg.read(buf)
	if err != nil {
		return 0, false
	}
	n, ok := parseLastPID(b)
	return int(n), ok
}

// look shows every new process, and again from time to time while it is young,
// until see says that nothing more is to be learnt of it. fresh is true for the
// first time.
func (f *finder) look(at int64, buf []byte, see func(pid int, fresh bool) (done bool)) {
	n, ok := f.newest(buf)
	switch {
	case !ok || n == f.last:
	case n < f.last || n-f.last > maxNew:
		f.list(at)
	default:
		for pid := f.last + 1; pid <= n; pid++ {
			f.take(pid, at)
		}
	}
	if ok {
		f.last = n
	}
	keep := f.young[:0]
	for _, c := range f.young {
		if at < c.next {
			keep = append(keep, c)
			continue
		}
		if !isProcess(c.pid) || see(c.pid, c.since == at) || at-c.since > youth {
			continue
		}
		c.next = at + (at-c.since)/ageShare
		keep = append(keep, c)
	}
	f.young = keep
}

// take keeps a number that is new, if it is a process's.
func (f *finder) take(pid int, at int64) {
	if isProcess(pid) {
		f.young = append(f.young, candidate{pid: pid, since: at})
	}
}

// isProcess says whether there is a process of this number: threads have
// numbers, too, but are no leaders of their own group.
func isProcess(pid int) bool {
	err := unix.Tgkill(pid, pid, 0)
	return err == nil || errors.Is(err, unix.EPERM)
}

// list takes all processes as new.
func (f *finder) list(at int64) {
	names, err := readNames(f.m.path("/proc"))
	if err != nil {
		return
	}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err == nil && !slices.ContainsFunc(f.young, func(c candidate) bool { return c.pid == pid }) {
			f.take(pid, at)
		}
	}
}

func (f *finder) close() { f.loadavg.close() }

// probeName is the name of the payload's program, in every image and on the host.
var probeName = []byte(probe.FileName)

// words gives the command line of a payload, nothing for another process; alive
// is false where it has ended.
func (m *machine) words(pid int, buf []byte) (argv []byte, alive bool) {
	exe := linkNow(m.proc(pid, "exe"), buf)
	if exe == nil {
		// Another user's process can't be looked at, and is none of ours.
		return nil, false
	}
	if i := bytes.LastIndexByte(exe, '/'); !bytes.HasPrefix(exe[i+1:], probeName) {
		return nil, true
	}
	b, err := readOnce(m.proc(pid, "cmdline"), buf)
	if err != nil {
		return nil, true
	}
	_, args, _ := bytes.Cut(b, []byte{0})
	verb, _, _ := bytes.Cut(args, []byte{0})
	switch string(verb) {
	case "launch", "floor", "delay": // outside: what they start has the word as well
		return nil, true
	}
	return b, true
}

// hasWord says whether one of the arguments is the word.
func hasWord(argv []byte, word string) bool {
	for len(argv) > 0 {
		arg, rest, _ := bytes.Cut(argv, []byte{0})
		if string(arg) == word {
			return true
		}
		argv = rest
	}
	return false
}

// findAll looks through all processes once for payloads by their words, the
// topmost where several bear it.
func (m *machine) findAll(words []string, buf []byte) (map[string]int, error) {
	names, err := readNames(m.path("/proc"))
	if err != nil {
		return nil, err
	}
	found := map[string]int{}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		argv, _ := m.words(pid, buf)
		if len(argv) == 0 {
			continue
		}
		argv = bytes.Clone(argv)
		for _, w := range words {
			if w != "" && hasWord(argv, w) && found[w] == 0 {
				found[w] = m.topWithWord(pid, w, buf)
			}
		}
	}
	return found, nil
}

// topWithWord climbs while the parent bears the word, too: a child of the
// payload does so until it executes another program.
func (m *machine) topWithWord(pid int, word string, buf []byte) int {
	for range 64 {
		st, ok := m.stat(pid, buf)
		if !ok || st.parent <= 1 || int(st.parent) == os.Getpid() {
			return pid
		}
		argv, _ := m.words(int(st.parent), buf)
		if !hasWord(argv, word) {
			return pid
		}
		pid = int(st.parent)
	}
	return pid
}
