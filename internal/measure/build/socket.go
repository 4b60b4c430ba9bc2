package build

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
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
		return b, err
	}
	exe := executable(pid)
	if b.Path, err = os.Readlink(exe); errors.Is(err, fs.ErrPermission) {
		return b, fmt.Errorf("%s: the process behind it, %d, is not yours, so its program can't be identified: root may", a.Socket, pid)
	} else if err != nil {
		return b, fmt.Errorf("%s: the process behind it, %d: %w", a.Socket, pid, err)
	}
	b.Path = strings.TrimSuffix(b.Path, " (deleted)")
	if err := trusted(a.Socket, pid, b.Path); err != nil {
		return b, fmt.Errorf("%s: %w", a.Socket, err)
	}
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

// trusted says why the program of a process is neither read nor executed by us: it is not
// root's or ours in all its ids (a set-user-ID program is that of who started it), the
// socket was made by another user (whose process may have ended since, and its number be
// another's), or it is a file that is not here, as a container's is.
func trusted(socket string, pid int, path string) error {
	if maker, err := proc.Peer(socket); err != nil {
		return err
	} else if maker.Uid != 0 && int(maker.Uid) != unix.Geteuid() {
		return fmt.Errorf("another user (%d) listens there, whose program is not executed by you to ask its version: run Plimsoll as that user", maker.Uid)
	}
	st, err := proc.Here.Status(proc.PID(pid))
	if err != nil {
		return fmt.Errorf("the process behind it, %d, has ended", pid)
	}
	for _, id := range strings.Fields(st["Uid"]) {
		if id != "0" && id != strconv.Itoa(unix.Geteuid()) {
			return fmt.Errorf("the process behind it, %d, is another user's, and is not executed by you to ask its version: run Plimsoll as that user", pid)
		}
	}
	// One that was replaced or removed since it was started is the machine's own still.
	if shared(pid, "mnt") {
		return nil
	}
	// A service may have mounts of its own, and is not in a container then; what a
	// container has mounted in the same place out here is a container's all the same.
	is, err := os.Stat(executable(pid))
	here, herr := os.Stat(path)
	if err != nil || herr != nil || !os.SameFile(is, here) || !shared(pid, "pid") {
		return fmt.Errorf("the process behind it, %d, has a root file system of its own, as in a container: its program, %s, is not executed out here", pid, path)
	}
	return nil
}

// shared says whether a process is in our namespace of a kind.
func shared(pid int, kind string) bool {
	ours, err := os.Readlink("/proc/self/ns/" + kind)
	theirs, terr := os.Readlink("/proc/" + proc.PID(pid) + "/ns/" + kind)
	return err == nil && terr == nil && ours == theirs
}

// runningVersion asks the program of a daemon that runs already for its version. It is
// executed for that, so it is looked at again whose it is.
func runningVersion(ctx context.Context, b record.Build, p engine.Program) (string, error) {
	pid, err := proc.Here.Behind(b.Socket)
	if err != nil {
		return "", err
	}
	if err := trusted(b.Socket, pid, b.Path); err != nil {
		return "", fmt.Errorf("%s: %w", b.Socket, err)
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

// OneDaemon says of each two builds that are one daemon that they are, as the same socket by
// two paths is: as a test of the measurement itself that is right, else a slip.
func OneDaemon(builds []record.Build) (said []string) {
	first := map[int]record.Build{}
	for _, b := range builds {
		if b.Socket == "" {
			continue
		}
		pid, err := proc.Here.Behind(b.Socket)
		if err != nil {
			continue // whoever uses it says so
		}
		if a, ok := first[pid]; ok {
			said = append(said, fmt.Sprintf("%s and %s are one daemon, process %d: nothing but chance tells them apart", a.Name(), b.Name(), pid))
			continue
		}
		first[pid] = b
	}
	return said
}
