package cgroup

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"plimsoll/internal/measure/host/proc"

	"golang.org/x/sys/unix"
)

// parent is a group under which ours can be made.
type parent struct {
	path string
	kind kind
}

// findParents finds where to make groups that can limit CPU and memory: v1
// hierarchies where cpu and memory are mounted so, else v2. why says what is
// missing.
//
// On v1 the parent is the root of the hierarchy and not the group that we are
// in, since that is where engines put theirs: a limit that was set on us would
// else fall on some of the environments only. On v2 it is the root too where
// that may have children with controllers; a cgroup that is not the true root
// may not, while processes are in it (the rule of no internal processes), and
// then it is the nearest ancestor of ours that hands down both controllers.
// https://docs.kernel.org/admin-guide/cgroup-v2.html#no-internal-process-constraint
func findParents(d proc.Dir) ([]parent, string) {
	hs, err := d.Hierarchies()
	if err != nil {
		return nil, fmt.Sprintf("the cgroup hierarchies are not known: %v", err)
	}
	cpu, mem := findV1(hs, "cpu"), findV1(hs, "memory")
	switch {
	case cpu != "" && cpu == mem:
		return writable([]parent{{cpu, bothV1}})
	case cpu != "" && mem != "":
		return writable([]parent{{cpu, cpuV1}, {mem, memoryV1}})
	}
	for _, h := range hs {
		if h.Unified {
			return v2Parent(h, d)
		}
	}
	return nil, "no cgroup hierarchy with cpu and memory is mounted"
}

func findV1(hs []proc.Hierarchy, controller string) string {
	for _, h := range hs {
		if h.Has(controller) {
			return h.Mount
		}
	}
	return ""
}

func writable(ps []parent) ([]parent, string) {
	for _, p := range ps {
		if unix.Access(p.path, unix.W_OK) != nil {
			return nil, fmt.Sprintf("no permission to make a cgroup in %s", p.path)
		}
	}
	return ps, ""
}

func v2Parent(h proc.Hierarchy, d proc.Dir) ([]parent, string) {
	groups, _ := d.Groups(proc.Self) // without it only the root can be tried
	own := cmp.Or(groups.ByController()[""], "/")
	// From the root down to the group that we are in.
	dirs := []string{h.Mount}
	if rel, err := filepath.Rel(h.Root, own); err == nil && rel != "." && !strings.HasPrefix(rel, "..") {
		at := h.Mount
		for name := range strings.SplitSeq(rel, "/") {
			at = filepath.Join(at, name)
			dirs = append(dirs, at)
		}
	}
	why := ""
	for _, dir := range dirs {
		if why, _ = handsDown(d, dir); why == "" {
			return []parent{{dir, unified}}, ""
		}
	}
	return nil, why
}

// handsDown makes sure that children of a v2 group get cpu and memory and that
// we may make one and move into it; else it returns what is in the way, and whether that
// is processes in the group.
func handsDown(d proc.Dir, dir string) (why string, occupied bool) {
	// Moving needs the right to write to the common ancestor's cgroup.procs.
	if unix.Access(dir, unix.W_OK) != nil || unix.Access(filepath.Join(dir, "cgroup.procs"), unix.W_OK) != nil {
		return fmt.Sprintf("no permission to make a cgroup in %s", dir), false
	}
	control := filepath.Join(dir, "cgroup.subtree_control")
	have, err := os.ReadFile(control)
	if err != nil {
		return fmt.Sprintf("reading %s: %v", control, err), false
	}
	// memory first: it is refused where processes are in the group, while cpu is
	// granted there and makes the group a threaded one, under which no container
	// can be made any more.
	// https://docs.kernel.org/admin-guide/cgroup-v2.html#threads
	for _, c := range []string{"memory", "cpu"} {
		if slices.Contains(strings.Fields(string(have)), c) {
			continue
		}
		if err := os.WriteFile(control, []byte("+"+c), 0); errors.Is(err, syscall.EBUSY) {
			return fmt.Sprintf("the %s controller can't be handed down from %s while processes are in that group itself, as they are in a container that has a cgroup namespace of its own", c, dir), true
		} else if errors.Is(err, fs.ErrNotExist) {
			return missing(d, dir, c), false
		} else if err != nil {
			return fmt.Sprintf("the %s controller can't be handed down from %s: %v", c, dir, err), false
		}
	}
	return "", false
}

// missing returns why a v2 group lacks a controller, and what gives it one.
func missing(d proc.Dir, dir, controller string) string {
	switch c, _ := d.Controller(controller); { // an unreadable list is as one without it
	case c.V1:
		return fmt.Sprintf("the %s controller is bound to version 1 of the control groups, so no group of version 2 in %s can have it: mount its version 1 hierarchy (mount -t cgroup -o %[1]s cgroup DIRECTORY), or boot with cgroup_no_v1=%[1]s", controller, dir)
	case c.Disabled:
		return fmt.Sprintf("the %s controller is disabled in this kernel: boot without cgroup_disable=%[1]s, or with cgroup_enable=%[1]s", controller)
	}
	return fmt.Sprintf("%s has no %s controller (cgroup.controllers): the group above it has to hand it down (cgroup.subtree_control)", dir, controller)
}

// AtTop says what is in the way of engines that make their groups at the top of
// the tree, as bare runtimes do, and want to limit them; and what helps.
func AtTop() (reason, fix string) {
	hierarchies, err := proc.Here.Hierarchies()
	if err != nil || versionOf(hierarchies) != "v2" {
		return "", ""
	}
	for _, h := range hierarchies {
		if !h.Unified {
			continue
		}
		reason, occupied := handsDown(proc.Here, h.Mount)
		if !occupied {
			return reason, ""
		}
		if _, err := os.Stat(filepath.Join(h.Mount, "cgroup.type")); err == nil { // the true root has none
			fix = fmt.Sprintf("mkdir -p %[1]s/init && for p in $(cat %[1]s/cgroup.procs); do echo $p > %[1]s/init/cgroup.procs; done", h.Mount)
		}
		return reason, fix
	}
	return "", ""
}
