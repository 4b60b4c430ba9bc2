package cgroup

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host/proc"
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
	groups, _ := proc.Here.Groups(proc.PID(pid))
	at := map[string]string{}
	for _, g := range groups {
		at[strings.Join(g.Controllers, ",")] = g.Path
	}
	return InForceAt(at).Limits
}

// InForceAt is InForce for a process that was in these groups: the path in each
// hierarchy, by its list of controllers, which is empty for version 2. A group
// that is gone no longer limits, but those above it that are there do.
func InForceAt(groups map[string]string) Force {
	var l Force
	hs, _ := proc.Here.Hierarchies() // where there are none, none limits
	for controllers, group := range groups {
		for _, h := range hs {
			if h.Unified != (controllers == "") || (!h.Unified && !has(h, controllers)) {
				continue
			}
			rel, err := filepath.Rel(h.Root, group)
			if err != nil || strings.Contains("/"+rel+"/", "/../") {
				continue
			}
			for dir := filepath.Join(h.Mount, rel); ; dir = filepath.Dir(dir) {
				l = l.tighter(dir, readLimits(dir))
				if dir == h.Mount {
					break
				}
			}
			break
		}
	}
	return l
}

// has says whether the hierarchy is the one of this list of controllers.
func has(h proc.Hierarchy, list string) bool {
	for c := range strings.SplitSeq(list, ",") {
		if !h.Has(c) {
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
