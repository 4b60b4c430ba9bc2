//go:build linux

package collect

import (
	"os"
	"slices"
	"strings"
)

// maxMembers bounds how many processes of one container are looked at one by
// one; its control group has the sums of all.
const maxMembers = 256

// anatomy is which processes belong to a container.
type anatomy struct {
	payload []int
	monitor []int
	group   *group
}

// dissect finds a container's parts from one process of its payload. What the
// daemons' processes and our own are is known.
func (m *machine) dissect(pid int, daemons []int, buf []byte) (anatomy, error) {
	top := m.top(pid, buf)
	chain := m.chain(top, daemons, buf)
	g, err := m.groupsOf(top, append(chain, os.Getpid()))
	if err != nil {
		return anatomy{}, err
	}
	a := anatomy{group: g, payload: []int{top}}
	if dir := g.anyDir(); dir != "" {
		a.payload = union(a.payload, members(dir, maxMembers))
	} else {
		a.payload = append(a.payload, m.descendants(top, func(int) bool { return false })...)
	}
	a.monitor = chain
	// Whoever was put into the container from outside, as by exec, may have
	// another parent there: its container's monitor is that of the first.
	for _, p := range a.payload {
		st, ok := m.stat(p, buf)
		if !ok || slices.Contains(a.payload, int(st.parent)) {
			continue
		}
		a.monitor = union(a.monitor, m.chain(p, daemons, buf))
	}
	// What the monitors keep beside the payload: a pod's pause, a gofer.
	for _, x := range slices.Clone(a.monitor) {
		a.monitor = union(a.monitor, m.descendants(x, func(p int) bool { return slices.Contains(a.payload, p) }))
	}
	return a, nil
}

// anyDir is the directory of one of the payload's own groups.
func (g *group) anyDir() string {
	for _, c := range []string{memoryCtl, cpuacct, unifiedTree, pidsCtl} {
		if dir, ok := g.own[c]; ok {
			return dir
		}
	}
	return ""
}

// top climbs from a process to the first one of its PID namespace, or to where
// the parent is outside of it: a container's own init, where it has one.
func (m *machine) top(pid int, buf []byte) int {
	ns := m.link(pid, "ns/pid")
	if ns == "" || ns == m.link(os.Getpid(), "ns/pid") {
		return pid
	}
	for range 64 {
		st, ok := m.stat(pid, buf)
		if !ok || st.parent <= 1 || m.link(int(st.parent), "ns/pid") != ns {
			return pid
		}
		pid = int(st.parent)
	}
	return pid
}

// chain lists the parents of a process up to the daemon, us, or the machine's
// init: these are no part of it.
func (m *machine) chain(pid int, daemons []int, buf []byte) []int {
	var out []int
	ours := m.ours(buf)
	for range 64 {
		st, ok := m.stat(pid, buf)
		if !ok {
			return out
		}
		pid = int(st.parent)
		if pid <= 1 || slices.Contains(ours, pid) || slices.Contains(daemons, pid) || m.isLauncher(pid, buf) || m.isDaemonName(pid) {
			return out
		}
		out = append(out, pid)
	}
	return out
}

// ours are this process and its ancestors.
func (m *machine) ours(buf []byte) []int {
	out := []int{os.Getpid()}
	for range 64 {
		st, ok := m.stat(out[len(out)-1], buf)
		if !ok || st.parent <= 1 {
			return out
		}
		out = append(out, int(st.parent))
	}
	return out
}

// isLauncher says whether a process is one of our launchers.
func (m *machine) isLauncher(pid int, buf []byte) bool {
	st, ok := m.stat(pid, buf)
	if !ok || int(st.parent) != os.Getpid() {
		return false
	}
	argv := strings.Split(m.text(pid, "cmdline"), "\x00")
	return len(argv) > 1 && argv[1] == "launch"
}

// isDaemonName knows the supervisors that stand above containers and that no
// environment named as its own: a session's manager, and engines' daemons.
func (m *machine) isDaemonName(pid int) bool {
	if m.isTitled(pid) {
		return false
	}
	comm := m.text(pid, "comm")
	return comm == "systemd" || comm == "init" || slices.Contains(m.names.Daemons, comm)
}

// daemonsBelow are a daemon and its descendants that are no container's.
func (m *machine) daemonsBelow(pid int) []int {
	return append([]int{pid}, m.descendants(pid, func(p int) bool {
		return m.isTitled(p) || hasPrefixAny(m.text(p, "comm"), m.names.Helpers)
	})...)
}

// isTitled says whether a process is a container's under its daemon's name.
func (m *machine) isTitled(pid int) bool {
	return len(m.names.Titles) > 0 && hasPrefixAny(m.text(pid, "cmdline"), m.names.Titles)
}

func hasPrefixAny(s string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}
