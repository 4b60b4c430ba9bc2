package docker

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"plimsoll/internal/measure/host/proc"
)

// systemContainerd is the socket of a containerd that a daemon takes instead of
// starting one of its own, where it is told no other.
const systemContainerd = "/run/containerd/containerd.sock"

// usesContainerd is the socket of the containerd that a daemon takes if it has started
// none: the one that it says (since version 1.46 of its API), else the one on its command
// line. An older one that is told it in its configuration file passes for one that takes
// the system's.
func usesContainerd(says string, argv []string) string {
	at := ""
	for i, a := range argv {
		if v, ok := strings.CutPrefix(a, "--containerd="); ok {
			at = v
		} else if a == "--containerd" && i+1 < len(argv) {
			at = argv[i+1]
		}
	}
	return cmp.Or(strings.TrimPrefix(cmp.Or(says, at), "unix://"), systemContainerd)
}

// rootlessKit is what its processes are called: the child is /proc/self/exe.
var rootlessKit = []string{"rootlesskit", "exe"}

// Daemons lists the daemon by its socket and its containerd, with a rootless one
// also RootlessKit and its network.
func (env *environment) Daemons(context.Context) (sockets []string, pids []int) {
	socket := strings.TrimPrefix(env.d.host, "unix://")
	sockets = []string{socket}
	pid, err := proc.Here.Behind(socket)
	if err != nil { // nobody may be told
		return sockets, nil
	}
	all := map[int]proc.Stat{}
	for _, pid := range proc.Here.PIDs() {
		if p, err := proc.Here.Stat(pid); err == nil {
			all[pid] = p
		}
	}
	own := false
	for _, p := range all {
		if p.PPID == pid && strings.HasSuffix(p.Comm, "containerd") {
			pids, own = append(pids, p.PID), true
		}
	}
	if !own {
		argv, _ := proc.Here.Argv(pid) // without it the daemon's word, or the usual place, is left
		if at := usesContainerd(env.containerd, argv); exists(at) {
			sockets = append(sockets, at)
		}
	}
	for at := all[pid].PPID; slices.Contains(rootlessKit, all[at].Comm); at = all[at].PPID {
		pids = append(pids, at)
		for _, p := range all {
			if p.PPID == at && !slices.Contains(rootlessKit, p.Comm) && p.PID != pid && p.Comm != env.d.flavour.daemon {
				pids = append(pids, p.PID) // slirp4netns, vpnkit, pasta
			}
		}
	}
	slices.Sort(pids)
	return sockets, pids
}
