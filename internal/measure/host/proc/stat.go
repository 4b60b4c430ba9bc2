//go:build linux

package proc

import (
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
)

// Stat is what we need of /proc/PID/stat; source: proc(5).
type Stat struct {
	PID   int
	Comm  string
	State byte
	PPID  int
	Flags uint64
	Ticks uint64 // user and system time, in USER_HZ
	Start uint64 // ticks after boot: with the PID it names a process for ever
}

// StartText is Start as the kernel writes it.
func (s Stat) StartText() string { return strconv.FormatUint(s.Start, 10) }

// Stat reads a process's.
func (d Dir) Stat(pid int) (Stat, error) {
	text, err := d.read(PID(pid), "stat")
	if err != nil {
		return Stat{}, err
	}
	st, err := ParseStat(text)
	if err != nil || pid != os.Getpid() {
		return st, err
	}
	// What is not here or can't be read is as it was: a copy of /proc has no threads.
	if text, err := d.read(NamedIn(PID(pid)), "stat"); err == nil {
		if first, err := ParseStat(text); err == nil {
			st.Start, st.State, st.Flags = first.Start, first.State, first.Flags
		}
	}
	return st, nil
}

// NamedIn is the directory below /proc whose stat has the start that every other
// process reads too. For ourselves it is that of our first thread: QEMU's user
// emulation answers for /proc/self/stat in the kernel's place, with the start of
// whichever thread asks (open_self_stat in linux-user/syscall.c). The processor time
// in it is that thread's alone.
func NamedIn(pid string) string {
	if pid == PID(os.Getpid()) {
		return path.Join(pid, "task", pid)
	}
	return pid
}

// ParseStat reads the text of one. The name stands in parentheses and may hold
// some itself, and blanks. It is written for loops over all processes, for
// which procfs, which scans all fields with fmt, takes ten times as long.
func ParseStat(s string) (Stat, error) {
	var p Stat
	bad := func() (Stat, error) { return Stat{}, fmt.Errorf("%.60q is no /proc/PID/stat", s) }
	open, end := strings.IndexByte(s, '('), strings.LastIndexByte(s, ')')
	if open < 1 || end < open {
		return bad()
	}
	f := strings.Fields(s[end+1:])
	if len(f) < 20 || len(f[0]) != 1 {
		return bad()
	}
	var errs [6]error
	var user, system uint64
	p.PID, errs[0] = strconv.Atoi(strings.TrimSpace(s[:open]))
	p.Comm, p.State = s[open+1:end], f[0][0]
	p.PPID, errs[1] = strconv.Atoi(f[1])
	p.Flags, errs[2] = strconv.ParseUint(f[6], 10, 64)
	user, errs[3] = strconv.ParseUint(f[11], 10, 64)
	system, errs[4] = strconv.ParseUint(f[12], 10, 64)
	p.Start, errs[5] = strconv.ParseUint(f[19], 10, 64)
	for _, err := range errs {
		if err != nil {
			return bad()
		}
	}
	p.Ticks = user + system
	return p, nil
}
