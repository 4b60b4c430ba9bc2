package wrap

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/measure/engine"
)

// Force is what limits a process, each with the directory of the group where it
// is set.
type Force struct {
	engine.Limits
	CPUsAt, MemoryAt string
}

// InForce reads the CPU and memory limits that a process lives under: the
// tightest of its cgroup and that one's ancestors. Zero is no limit, or none
// that can be read from here.
func InForce(pid int) engine.Limits {
	groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return engine.Limits{}
	}
	at := map[string]string{}
	for line := range strings.Lines(string(groups)) {
		if f := strings.SplitN(strings.TrimSpace(line), ":", 3); len(f) == 3 {
			at[f[1]] = f[2]
		}
	}
	return InForceAt(at).Limits
}

// InForceAt is InForce for a process that was in these groups: the path in each
// hierarchy, by its list of controllers, which is empty for version 2. A group
// that is gone no longer limits, but those above it that are there do.
func InForceAt(groups map[string]string) Force {
	return inForceAt("/proc/self/mountinfo", groups)
}

func inForceAt(mountinfo string, groups map[string]string) Force {
	var l Force
	mounts, err := os.ReadFile(mountinfo)
	if err != nil {
		return l
	}
	hs := parseHierarchies(string(mounts))
	for controllers, group := range groups {
		for _, h := range hs {
			if h.v2 != (controllers == "") || (!h.v2 && !h.has(controllers)) {
				continue
			}
			rel, err := filepath.Rel(h.root, group)
			if err != nil || strings.Contains("/"+rel+"/", "/../") {
				continue
			}
			for dir := filepath.Join(h.mount, rel); ; dir = filepath.Dir(dir) {
				l = l.tighter(dir, readLimits(dir))
				if dir == h.mount {
					break
				}
			}
			break
		}
	}
	return l
}

// has says whether the hierarchy is the one of this list of controllers.
func (h hierarchy) has(list string) bool {
	for c := range strings.SplitSeq(list, ",") {
		if !slices.Contains(h.controllers, c) {
			return false
		}
	}
	return true
}

// tighter adds what is set in one more directory.
func (f Force) tighter(dir string, b engine.Limits) Force {
	if b.CPUs != 0 && (f.CPUs == 0 || b.CPUs < f.CPUs) {
		f.CPUs, f.CPUsAt = b.CPUs, dir
	}
	if b.MemoryBytes != 0 && (f.MemoryBytes == 0 || b.MemoryBytes < f.MemoryBytes) {
		f.MemoryBytes, f.MemoryAt = b.MemoryBytes, dir
	}
	return f
}

// readLimits reads whatever limit files a group's directory has.
func readLimits(dir string) engine.Limits {
	var l engine.Limits
	read := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(dir, name))
		return strings.TrimSpace(string(text))
	}
	quota, period, ok := strings.Cut(read("cpu.max"), " ")
	if !ok {
		quota, period = read("cpu.cfs_quota_us"), read("cpu.cfs_period_us")
	}
	q, err := strconv.ParseFloat(quota, 64)
	p, err2 := strconv.ParseFloat(period, 64)
	if err == nil && err2 == nil && q > 0 && p > 0 {
		l.CPUs = q / p
	}
	for _, name := range []string{"memory.max", "memory.limit_in_bytes"} {
		// v1 says "no limit" by a number near the largest.
		if n, err := strconv.ParseInt(read(name), 10, 64); err == nil && n < 1<<60 {
			l.MemoryBytes = n
		}
	}
	return l
}
