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
)

// markKey is the variable that all descendants of a daemon inherit.
const markKey = "PLIMSOLL_DAEMON"

// process is one process, told from a later one with the same pid by its start
// time (field 22 of /proc/PID/stat).
type process struct {
	pid, ppid int
	start     string
	state     byte
	mountNS   string
	marked    bool
}

func (p process) String() string {
	comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", p.pid))
	return fmt.Sprintf("%d (%s)", p.pid, strings.TrimSpace(string(comm)))
}

// readProcess reads what is known of a process; ok is false when it is gone.
func readProcess(pid int) (p process, ok bool) {
	dir := "/proc/" + strconv.Itoa(pid)
	b, err := os.ReadFile(dir + "/stat")
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

// family lists the living processes of the daemon with this mark (of all that
// begin so, where it ends in a slash): those that inherited the mark, those in
// a mount namespace of theirs, and all their children. A container has not the
// mark, but its shim has.
func family(mark string) []process {
	var all []process
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	host, _ := os.Readlink("/proc/self/ns/mnt")
	in, spaces := map[int]bool{}, map[string]bool{}
	want := []byte("\x00" + markKey + "=" + mark)
	if !strings.HasSuffix(mark, "/") {
		want = append(want, 0)
	}
	for _, d := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(d))
		p, ok := readProcess(pid)
		if !ok || p.state == 'Z' || p.state == 'X' || pid == os.Getpid() {
			continue
		}
		env, _ := os.ReadFile(d + "/environ")
		p.mountNS, _ = os.Readlink(d + "/ns/mnt")
		if p.marked = bytes.Contains(append([]byte{0}, env...), want); p.marked {
			in[pid] = true
			if p.mountNS != host && p.mountNS != "" {
				spaces[p.mountNS] = true
			}
		}
		all = append(all, p)
	}
	for grown := true; grown; {
		grown = false
		for _, p := range all {
			if !in[p.pid] && (in[p.ppid] || spaces[p.mountNS]) {
				in[p.pid], grown = true, true
			}
		}
	}
	var found []process
	for _, p := range all {
		if in[p.pid] {
			found = append(found, p)
		}
	}
	return found
}

// signal sends a signal to exactly this process: not to a later one with its
// pid. That it is gone is no error.
func (p process) signal(sig unix.Signal) error {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	// The pidfd holds the process; had the pid changed hands before, the start
	// time would be another.
	if now, ok := readProcess(p.pid); !ok || now.start != p.start {
		return nil
	}
	if err := unix.PidfdSendSignal(fd, sig, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("ending process %s: %w", p, err)
	}
	return nil
}

// killLimit bounds what a family may take to end after SIGKILL.
const killLimit = 10 * time.Second

// killFamily kills the processes of a mark until there are none.
func killFamily(ctx context.Context, mark string) error {
	ctx, cancel := context.WithTimeout(ctx, killLimit)
	defer cancel()
	for {
		left := family(mark)
		if len(left) == 0 {
			return nil
		}
		for _, p := range left {
			if err := p.signal(unix.SIGKILL); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("these processes of a private daemon do not end: %v", left)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// waitFamily waits until the processes of a mark have ended by themselves.
func waitFamily(ctx context.Context, mark string) {
	for len(family(mark)) > 0 {
		select {
		case <-ctx.Done():
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}
