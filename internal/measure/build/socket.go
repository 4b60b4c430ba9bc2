package build

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// socketed begins what is no path but the socket of a daemon that runs already.
const socketed = "unix://"

// lookBehind looks at the program of the daemon that listens at a socket: the file that
// its process was executed from, whatever lies at its path by now.
func lookBehind(a Asked) (record.Build, error) {
	b := record.Build{Program: a.Program, Level: a.Level, Socket: a.Socket}
	pid, err := proc.Here.Behind(a.Socket)
	if err != nil {
		return b, fmt.Errorf("%s: %w", a.Socket, err)
	}
	exe := executable(pid)
	if b.Path, err = os.Readlink(exe); errors.Is(err, fs.ErrPermission) {
		return b, fmt.Errorf("%s: the process behind it, %d, is not yours, so that which program it is can't be told: root may", a.Socket, pid)
	} else if err != nil {
		return b, fmt.Errorf("%s: the process behind it, %d: %w", a.Socket, pid, err)
	}
	b.Path = strings.TrimSuffix(b.Path, " (deleted)")
	f, err := os.Open(exe)
	if err != nil {
		return b, fmt.Errorf("%s: the program of the process behind it: %w", a.Socket, err)
	}
	defer f.Close()
	if err := digested(&b, f, a.SHA256); err != nil {
		return b, err
	}
	e, err := elf.NewFile(f)
	if err != nil {
		return b, fmt.Errorf("%s: the program of the process behind it: %w", a.Socket, err)
	}
	b.BuildID = idOf(e)
	return b, nil
}

func executable(pid int) string { return "/proc/" + proc.PID(pid) + "/exe" }

// runningVersion asks the program of a daemon that runs already for its version. It is
// executed for that, and so it must be root's process or ours: what another user runs
// is not executed as root.
func runningVersion(ctx context.Context, b record.Build, p engine.Program) (string, error) {
	pid, err := proc.Here.Behind(b.Socket)
	if err != nil {
		return "", fmt.Errorf("%s: %w", b.Socket, err)
	}
	var st unix.Stat_t
	if err := unix.Stat("/proc/"+proc.PID(pid), &st); err != nil {
		return "", fmt.Errorf("%s: the process behind it, %d, has ended", b.Socket, pid)
	}
	if int(st.Uid) != unix.Geteuid() && st.Uid != 0 {
		return "", fmt.Errorf("%s: the process behind it, %d, is another user's, and is not executed by you", b.Socket, pid)
	}
	v, err := version(ctx, executable(pid), p)
	if err != nil {
		return "", fmt.Errorf("%s is served by %s (process %d): %w", b.Socket, b.Path, pid, err)
	}
	return v, nil
}

func configuredItself(b *record.Build) error {
	return fmt.Errorf("%s runs already, at %s, with a configuration of its own: a build of it has none here", b.Program, b.Socket)
}
