package cgroup

import (
	"io/fs"
	"path/filepath"
)

// oomCounts are what the kernel has counted so far of a group.
type oomCounts struct {
	kills map[string]int64 // killed for want of memory, by directory: ours and those below
	limit int64            // how often our own limit was in the way of somebody in it or below
	host  int64            // killed on the whole host
}

// oomKills counts the processes of the group, and of the groups that an engine
// has made below it and that are still there, that the kernel has killed for
// want of memory; false where that can't be known.
func (c *Cgroup) oomKills() (int64, bool) {
	counts, ok := c.oomCounts()
	if !ok {
		return 0, false
	}
	own := c.memory()[0]
	all := counts.kills[own.path]
	if own.kind == unified { // which counts with it what is below
		return all, true
	}
	for dir, n := range counts.kills {
		if dir != own.path {
			all += n
		}
	}
	return all, true
}

// memory is our group in the hierarchy that limits memory.
func (c *Cgroup) memory() []groupDir {
	if c == nil {
		return nil
	}
	for i, d := range c.dirs {
		if d.kind != cpuV1 {
			return c.dirs[i : i+1]
		}
	}
	return nil
}

func (c *Cgroup) oomCounts() (oomCounts, bool) {
	counts := oomCounts{kills: map[string]int64{}}
	groups := c.memory()
	if len(groups) == 0 {
		return counts, false
	}
	d := groups[0]
	file := "memory.oom_control"
	if d.kind == unified {
		file = "memory.events"
		counts.limit, _ = d.counter(file, "oom")
	} else {
		counts.limit, _ = d.number("memory.failcnt")
	}
	_ = filepath.WalkDir(d.path, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return nil //nolint:nilerr // a group may go away meanwhile
		}
		if n, ok := (groupDir{path: path}).counter(file, "oom_kill"); ok {
			counts.kills[path] = n
		}
		return nil
	})
	counts.host, _ = vmstat("oom_kill")
	_, ok := counts.kills[d.path]
	return counts, ok
}

// OOMWatch remembers the counts now and says later whether the kernel has
// killed somebody in the group, or in one below it, for want of memory: what a
// plan of clirun asks.
//
// An engine may put its container into a group below ours and remove it with
// the container. Version 1 counts a kill in the victim's own group alone, so
// that it is gone then; but the limit that was hit is ours and counts the
// failed charges of all below it. With a kill on the host in the same time
// that is as good as seen. https://docs.kernel.org/admin-guide/cgroup-v1/memory.html
func (c *Cgroup) OOMWatch() func() bool {
	before, ok := c.oomCounts()
	return func() bool {
		after, ok2 := c.oomCounts()
		if !ok || !ok2 {
			return false
		}
		for dir, n := range after.kills {
			if n > before.kills[dir] {
				return true
			}
		}
		return after.limit > before.limit && after.host > before.host
	}
}

// TellsOOM says whether OOMWatch can tell of anything: whether there is a group that
// limits memory.
func (c *Cgroup) TellsOOM() bool { return len(c.memory()) > 0 }

// HostOOMWatch is like OOMWatch for the whole host: the kernel's count of
// processes killed for want of memory, which also sees a cgroup that the
// engine made and removed. A kill elsewhere on the host counts too, so it is
// evidence only beside a death by SIGKILL.
func HostOOMWatch() func() bool {
	before, ok := vmstat("oom_kill")
	return func() bool {
		after, ok2 := vmstat("oom_kill")
		return ok && ok2 && after > before
	}
}

// HostOr is HostOOMWatch, and where the host has counted nothing it asks an
// engine, which may not have looked in time: containerd misses a kill in a
// control group that is gone at once.
func HostOr(engine func() bool) func() bool {
	host := HostOOMWatch()
	return func() bool { return host() || engine() }
}

func vmstat(key string) (int64, bool) {
	return groupDir{path: "/proc"}.counter("vmstat", key)
}
