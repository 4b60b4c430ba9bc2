package wrap

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/engine"
)

// InForce reads the CPU and memory limits that a process lives under: the
// tightest of its cgroup and that one's ancestors. Zero is no limit, or none
// that can be read from here.
func InForce(pid int) engine.Limits {
	var l engine.Limits
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return l
	}
	groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return l
	}
	hs := parseHierarchies(string(mounts))
	for line := range strings.Lines(string(groups)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		for _, h := range hs {
			if h.v2 != (f[1] == "") || (!h.v2 && !h.has(f[1])) {
				continue
			}
			rel, err := filepath.Rel(h.root, f[2])
			if err != nil || strings.HasPrefix(rel, "..") {
				continue
			}
			for dir := filepath.Join(h.mount, rel); strings.HasPrefix(dir, h.mount); dir = filepath.Dir(dir) {
				l = tighter(l, readLimits(dir))
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

func tighter(a, b engine.Limits) engine.Limits {
	if a.CPUs == 0 || (b.CPUs != 0 && b.CPUs < a.CPUs) {
		a.CPUs = b.CPUs
	}
	if a.MemoryBytes == 0 || (b.MemoryBytes != 0 && b.MemoryBytes < a.MemoryBytes) {
		a.MemoryBytes = b.MemoryBytes
	}
	return a
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
