package wrap

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// parent is a group under which ours can be made.
type parent struct {
	path string
	kind kind
}

// hierarchy is one mounted cgroup hierarchy.
type hierarchy struct {
	mount       string
	root        string   // what of the hierarchy is mounted there; "/" is all of it
	controllers []string // among other options of the mount; nil for v2
	v2          bool
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
func findParents(mountinfo, selfCgroup string) ([]parent, string) {
	text, err := os.ReadFile(mountinfo)
	if err != nil {
		return nil, fmt.Sprintf("the list of mounts can't be read: %v", err)
	}
	hs := parseHierarchies(string(text))
	cpu, mem := findV1(hs, "cpu"), findV1(hs, "memory")
	switch {
	case cpu != "" && cpu == mem:
		return writable([]parent{{cpu, bothV1}})
	case cpu != "" && mem != "":
		return writable([]parent{{cpu, cpuV1}, {mem, memoryV1}})
	}
	for _, h := range hs {
		if h.v2 {
			return h.v2Parent(selfCgroup)
		}
	}
	return nil, "no cgroup hierarchy with cpu and memory is mounted"
}

func findV1(hs []hierarchy, controller string) string {
	for _, h := range hs {
		if slices.Contains(h.controllers, controller) {
			return h.mount
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

func (h hierarchy) v2Parent(selfCgroup string) ([]parent, string) {
	own := "/"
	if text, err := os.ReadFile(selfCgroup); err == nil {
		for line := range strings.Lines(string(text)) {
			if p, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
				own = p
			}
		}
	}
	// From the root down to the group that we are in.
	dirs := []string{h.mount}
	if rel, err := filepath.Rel(h.root, own); err == nil && rel != "." && !strings.HasPrefix(rel, "..") {
		at := h.mount
		for name := range strings.SplitSeq(rel, "/") {
			at = filepath.Join(at, name)
			dirs = append(dirs, at)
		}
	}
	why := ""
	for _, dir := range dirs {
		if why = handsDown(dir); why == "" {
			return []parent{{dir, unified}}, ""
		}
	}
	return nil, why
}

// handsDown makes sure that children of a v2 group get cpu and memory and that
// we may make one and move into it; else it says what is in the way.
func handsDown(dir string) string {
	// Moving needs the right to write to the common ancestor's cgroup.procs.
	if unix.Access(dir, unix.W_OK) != nil || unix.Access(filepath.Join(dir, "cgroup.procs"), unix.W_OK) != nil {
		return fmt.Sprintf("no permission to make a cgroup in %s", dir)
	}
	control := filepath.Join(dir, "cgroup.subtree_control")
	have, err := os.ReadFile(control)
	if err != nil {
		return fmt.Sprintf("reading %s: %v", control, err)
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
			return fmt.Sprintf("the %s controller can't be handed down from %s while processes are in that group itself, as they are in a container that has a cgroup namespace of its own", c, dir)
		} else if err != nil {
			return fmt.Sprintf("the %s controller can't be handed down from %s: %v", c, dir, err)
		}
	}
	return ""
}

// AtTop says what is in the way of engines that make their groups at the top of
// the tree, as bare runtimes do, and want to limit them; and what helps.
func AtTop() (reason, fix string) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || versionAt("/proc/self/mountinfo") != "v2" {
		return "", ""
	}
	for _, h := range parseHierarchies(string(text)) {
		if !h.v2 {
			continue
		}
		reason = handsDown(h.mount)
		if reason == "" {
			return "", ""
		}
		if _, err := os.Stat(filepath.Join(h.mount, "cgroup.type")); err == nil { // the true root has none
			fix = fmt.Sprintf("mkdir -p %[1]s/init && for p in $(cat %[1]s/cgroup.procs); do echo $p > %[1]s/init/cgroup.procs; done", h.mount)
		}
		return reason, fix
	}
	return "", ""
}

// parseHierarchies reads the cgroup mounts from the text of a mountinfo file.
// The fields are described in proc_pid_mountinfo(5).
func parseHierarchies(mountinfo string) []hierarchy {
	var hs []hierarchy
	for line := range strings.Lines(mountinfo) {
		before, after, ok := strings.Cut(line, " - ")
		f, g := strings.Fields(before), strings.Fields(after)
		if !ok || len(f) < 5 || len(g) < 3 {
			continue
		}
		h := hierarchy{root: f[3], mount: unescape(f[4])}
		switch g[0] {
		case "cgroup":
			h.controllers = strings.Split(g[2], ",")
		case "cgroup2":
			h.v2 = true
		default:
			continue
		}
		hs = append(hs, h)
	}
	return hs
}

// unescape undoes the octal escapes of mountinfo.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}
