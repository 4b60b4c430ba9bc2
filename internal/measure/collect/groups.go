//go:build linux

package collect

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/measure/host/proc"
)

// memberships are a process's groups by controller; "" is the unified tree.
type memberships map[string]string

// The controllers that are read.
const (
	unifiedTree = ""
	cpuacct     = "cpuacct"
	cpuCtl      = "cpu"
	memoryCtl   = "memory"
	blkioCtl    = "blkio"
	pidsCtl     = "pids"
)

// group is where one container's control groups are, by controller.
type group struct {
	// own are directories of groups that are the payload's alone.
	own map[string]string
	// v2: the controllers are those of the unified tree.
	v2 bool
}

// dir is the directory of a controller's group, with the version of its files.
func (g *group) dir(controller string) (dir string, v2 bool, err error) {
	if g.v2 {
		controller = unifiedTree
	}
	dir, ok := g.own[controller]
	if !ok {
		return "", false, absent("the payload has no control group of its own (controller %s)", controllerName(controller))
	}
	return dir, g.v2, nil
}

func controllerName(c string) string {
	if c == unifiedTree {
		return "version 2"
	}
	return c
}

// groupsOf finds the groups that are the payload's alone: those that are no
// other's of the given processes (its ancestors outside, and our own), and not
// a root.
func (m *machine) groupsOf(pid int, others []int) (*group, error) {
	mine, err := m.memberships(pid)
	if err != nil {
		return nil, err
	}
	shared := []memberships{}
	for _, o := range others {
		if ms, err := m.memberships(o); err == nil {
			shared = append(shared, ms)
		}
	}
	g := &group{own: map[string]string{}}
	g.v2 = !slices.ContainsFunc(m.trees, func(h proc.Hierarchy) bool {
		return h.Has(memoryCtl) || h.Has(cpuacct)
	})
	for controller, p := range mine {
		if slices.ContainsFunc(shared, func(o memberships) bool { return o[controller] == p }) {
			continue
		}
		if dir, ok := m.groupDir(controller, p); ok {
			g.own[controller] = dir
		}
	}
	return g, nil
}

func (m *machine) memberships(pid int) (memberships, error) {
	groups, err := m.dir().Groups(proc.PID(pid))
	if errors.Is(err, os.ErrNotExist) {
		return nil, errGone
	}
	if err != nil {
		return nil, fmt.Errorf("finding the control groups of process %d: %w", pid, err)
	}
	return groups.ByController(), nil
}

// groupDir gives the directory of a group, false for a root or for what lies
// outside of what is mounted here.
func (m *machine) groupDir(controller, p string) (string, bool) {
	if p == "/" {
		return "", false
	}
	for _, h := range m.trees {
		if controller == unifiedTree && !h.Unified || controller != unifiedTree && !h.Has(controller) {
			continue
		}
		rel := p
		if h.Root != "/" {
			rest, ok := strings.CutPrefix(p, h.Root)
			if !ok || rest == "" {
				return "", false
			}
			rel = rest
		}
		if strings.HasPrefix(rel, "/..") {
			return "", false
		}
		return m.path(path.Join(h.Mount, rel)), true
	}
	return "", false
}

// members are the processes in a group and in those below it.
func members(dir string, limit int) []int {
	var pids []int
	var walk func(dir string)
	walk = func(dir string) {
		b, err := os.ReadFile(dir + "/cgroup.procs")
		if err != nil {
			return
		}
		for l := range strings.Lines(string(b)) {
			if n, err := strconv.Atoi(strings.TrimSpace(l)); err == nil && n > 0 && len(pids) < limit {
				pids = append(pids, n)
			}
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			return
		}
		for _, e := range entries {
			if e.IsDir() {
				walk(dir + "/" + e.Name())
			}
		}
	}
	walk(dir)
	return pids
}
