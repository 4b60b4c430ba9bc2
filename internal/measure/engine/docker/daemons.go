package docker

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// systemContainerd is the socket of a containerd that a daemon takes instead of
// starting one of its own.
const systemContainerd = "/run/containerd/containerd.sock"

// rootlessKit is what its processes are called: the child is /proc/self/exe.
var rootlessKit = []string{"rootlesskit", "exe"}

// Daemons is documented in engine.Daemons: the daemon by its socket, and its
// containerd; beside a rootless one RootlessKit with its network.
func (env *environment) Daemons(ctx context.Context) (sockets []string, pids []int) {
	socket := strings.TrimPrefix(env.d.host, "unix://")
	sockets = []string{socket}
	pid := listener(ctx, socket)
	if pid <= 1 { // systemd made the socket
		return sockets, nil
	}
	all := processes()
	own := false
	for _, p := range all {
		if p.parent == pid && strings.HasSuffix(p.name, "containerd") {
			pids, own = append(pids, p.pid), true
		}
	}
	if !own && exists(systemContainerd) {
		sockets = append(sockets, systemContainerd)
	}
	for at := all[pid].parent; slices.Contains(rootlessKit, all[at].name); at = all[at].parent {
		pids = append(pids, at)
		for _, p := range all {
			if p.parent == at && !slices.Contains(rootlessKit, p.name) && p.pid != pid && p.name != env.d.flavour.daemon {
				pids = append(pids, p.pid) // slirp4netns, vpnkit, pasta
			}
		}
	}
	slices.Sort(pids)
	return sockets, pids
}

// listener is the process that listens on a Unix socket, see unix(7) on
// SO_PEERCRED; 0 where nobody tells.
func listener(ctx context.Context, socket string) int {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return 0
	}
	defer func() { _ = conn.Close() }()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0
	}
	pid := 0
	_ = raw.Control(func(fd uintptr) {
		if cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(cred.Pid)
		}
	})
	return pid
}

type process struct {
	pid, parent int
	name        string
}

// processes are all that there are, by pid.
func processes() map[int]process {
	all := map[int]process{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue
		}
		// "pid (name) state ppid …": the name may hold anything.
		open, end := strings.IndexByte(string(text), '('), strings.LastIndexByte(string(text), ')')
		if open < 0 || end < open {
			continue
		}
		f := strings.Fields(string(text[end+1:]))
		if len(f) < 2 {
			continue
		}
		parent, _ := strconv.Atoi(f[1])
		all[pid] = process{pid: pid, parent: parent, name: string(text[open+1 : end])}
	}
	return all
}
