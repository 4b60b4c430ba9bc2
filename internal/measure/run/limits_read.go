package run

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// maxBridgePorts is BR_MAX_PORTS less the unused port 0: a port's number has
// ten bits (net/bridge/br_private.h of the kernel).
const maxBridgePorts = 1023

// usage reads all limits that are likely to end a ramp.
func (a *ramp) usage() usage {
	if a.o.virtual {
		return nil
	}
	pids := []int{os.Getpid()}
	if d, ok := a.o.env.(engine.Daemons); ok {
		ctx, cancel := context.WithTimeout(context.Background(), a.site.limit())
		defer cancel()
		sockets, more := d.Daemons(ctx)
		pids = append(pids, more...)
		for _, s := range sockets {
			if pid, err := proc.Here.Behind(s); err == nil { // else its limits are not looked at
				pids = append(pids, pid)
			}
		}
	}
	inside := 0
	for _, h := range a.held {
		if p := h.Place().PID; p > 0 {
			inside = p
		}
	}
	out := usage{}
	l := limitsReader{proc: "/proc", sys: "/sys"}
	for _, b := range l.read(pids, inside) {
		out[b.name] = b
	}
	return out
}

// limitsReader reads limits below roots that a test can give.
type limitsReader struct {
	proc, sys string
}

// read gives every bound that can be read: of the machine, of the processes
// with these pids (we and the daemons), and of the cgroups above them and
// above the payload. What can't be read is left out.
func (l limitsReader) read(pids []int, payload int) []bound {
	out := machineBounds(l.proc)
	out = append(out, l.memory()...)
	out = append(out, l.bridges()...)
	out = append(out, l.keys()...)
	out = append(out, l.loops()...)
	out = append(out, disks()...)
	slices.Sort(pids)
	for _, pid := range slices.Compact(pids) {
		out = append(out, l.process(pid)...)
	}
	groups := slices.Clone(pids)
	if payload > 0 {
		groups = append(groups, payload)
	}
	out = append(out, l.cgroups(groups)...)
	return append(out, l.census()...)
}

// machineBounds are cheap to read, and dangerous when they run out.
func machineBounds(dir string) []bound {
	var out []bound
	if n, _ := proc.Dir(dir).Threads(); n > 0 {
		for _, name := range []string{"threads-max", "pid_max"} {
			if most, ok := number(filepath.Join(dir, "sys/kernel", name)); ok {
				out = append(out, bound{class: record.LimitProcesses, name: "kernel." + name + " (threads of the machine)", used: n, max: most})
			}
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "sys/fs/file-nr")); err == nil {
		if f := strings.Fields(string(b)); len(f) == 3 {
			used, _ := strconv.ParseInt(f[0], 10, 64)
			if most, err := strconv.ParseInt(f[2], 10, 64); err == nil {
				out = append(out, bound{class: record.LimitFiles, name: "fs.file-max (open files of the machine)", used: used, max: most})
			}
		}
	}
	return out
}

func (l limitsReader) memory() []bound {
	info, err := readMeminfo(proc.Dir(l.proc))
	if err != nil {
		return nil
	}
	out := []bound{{class: record.LimitMemory, name: "the machine's memory", used: info.Total - info.Available, max: info.Total}}
	if used, ok := number(filepath.Join(l.proc, "sys/kernel/pty/nr")); ok {
		if most, ok := number(filepath.Join(l.proc, "sys/kernel/pty/max")); ok {
			out = append(out, bound{class: record.LimitPTY, name: "kernel.pty.max (terminals)", used: used, max: most})
		}
	}
	if used, ok := number(filepath.Join(l.proc, "sys/net/netfilter/nf_conntrack_count")); ok {
		if most, ok := number(filepath.Join(l.proc, "sys/net/netfilter/nf_conntrack_max")); ok {
			out = append(out, bound{class: record.LimitConntrack, name: "net.netfilter.nf_conntrack_max (tracked connections)", used: used, max: most})
		}
	}
	return out
}

func (l limitsReader) bridges() []bound {
	var out []bound
	dirs, _ := filepath.Glob(filepath.Join(l.sys, "class/net/*/brif"))
	for _, d := range dirs {
		ports, err := os.ReadDir(d)
		if err == nil {
			name := filepath.Base(filepath.Dir(d))
			out = append(out, bound{class: record.LimitBridge, name: "ports of the bridge " + name, used: int64(len(ports)), max: maxBridgePorts})
		}
	}
	return out
}

// keys reads /proc/key-users: "uid: usage nkeys/nikeys qnkeys/maxkeys qnbytes/maxbytes".
func (l limitsReader) keys() []bound {
	b, err := os.ReadFile(filepath.Join(l.proc, "key-users"))
	if err != nil {
		return nil
	}
	var out []bound
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) != 5 {
			continue
		}
		uid := strings.TrimSuffix(f[0], ":")
		for i, what := range []string{"keys", "bytes of keys"} {
			used, most, ok := pair(f[3+i])
			if ok {
				out = append(out, bound{class: record.LimitKeys, name: "kernel.keys (" + what + " of user " + uid + ")", used: used, max: most})
			}
		}
	}
	return out
}

func pair(s string) (used, most int64, ok bool) {
	a, b, _ := strings.Cut(s, "/")
	used, err := strconv.ParseInt(a, 10, 64)
	if err != nil {
		return 0, 0, false
	}
	most, err = strconv.ParseInt(b, 10, 64)
	return used, most, err == nil
}

// loops counts loop devices, where there is no control device that makes more.
func (l limitsReader) loops() []bound {
	if _, err := os.Stat("/dev/loop-control"); err == nil {
		return nil
	}
	all, _ := filepath.Glob(filepath.Join(l.sys, "block/loop*"))
	used, _ := filepath.Glob(filepath.Join(l.sys, "block/loop*/loop/backing_file"))
	if len(all) == 0 {
		return nil
	}
	return []bound{{class: record.LimitLoop, name: "loop devices", used: int64(len(used)), max: int64(len(all))}}
}

// disks are the file systems that engines write to.
func disks() []bound {
	var out []bound
	seen := map[unix.Fsid]bool{}
	for _, dir := range []string{"/", "/var/lib", "/run", "/tmp", "/dev/shm"} {
		var s unix.Statfs_t
		if unix.Statfs(dir, &s) != nil || s.Blocks == 0 || seen[s.Fsid] && s.Fsid != (unix.Fsid{}) {
			continue
		}
		seen[s.Fsid] = true
		out = append(out, bound{class: record.LimitDisk, name: "the file system at " + dir, used: int64(s.Blocks-s.Bavail) * s.Bsize, max: int64(s.Blocks) * s.Bsize})
		if s.Files > 0 {
			out = append(out, bound{class: record.LimitDisk, name: "inodes of the file system at " + dir, used: int64(s.Files - s.Ffree), max: int64(s.Files)})
		}
	}
	return out
}

// process reads what one process is bound by.
func (l limitsReader) process(pid int) []bound {
	dir := filepath.Join(l.proc, strconv.Itoa(pid))
	limits, err := proc.Dir(l.proc).Limits(proc.PID(pid))
	if err != nil {
		return nil
	}
	who := "process " + strconv.Itoa(pid)
	if comm, err := os.ReadFile(filepath.Join(dir, "comm")); err == nil {
		who = strings.TrimSpace(string(comm)) + " (" + strconv.Itoa(pid) + ")"
	}
	var out []bound
	if most, ok := limits["Max open files"]; ok && most.Soft < math.MaxInt64 {
		if fds, err := os.ReadDir(filepath.Join(dir, "fd")); err == nil {
			out = append(out, bound{class: record.LimitFiles, name: "RLIMIT_NOFILE of " + who, used: int64(len(fds)), max: int64(most.Soft)})
		}
	}
	if most, ok := number(filepath.Join(l.proc, "sys/fs/mount-max")); ok {
		if mounts, err := proc.Dir(l.proc).Mounts(proc.PID(pid)); err == nil {
			out = append(out, bound{class: record.LimitMounts, name: "fs.mount-max (mounts of " + who + ")", used: int64(len(mounts)), max: most})
		}
	}
	return out
}

// cgroups reads pids and memory of every group above these processes.
func (l limitsReader) cgroups(pids []int) []bound {
	var out []bound
	seen := map[string]bool{}
	for _, pid := range pids {
		groups, _ := proc.Dir(l.proc).Groups(proc.PID(pid))
		for _, g := range groups {
			for _, root := range l.hierarchies(g.Controllers) {
				for path := filepath.Clean(g.Path); ; path = filepath.Dir(path) {
					dir := filepath.Join(root, path)
					if !seen[dir] {
						seen[dir] = true
						out = append(out, cgroupBounds(dir)...)
					}
					if path == "/" {
						break
					}
				}
			}
		}
	}
	return out
}

// hierarchies gives where the controllers of one of a process's groups are
// mounted, as far as they bound what we look for.
func (l limitsReader) hierarchies(controllers []string) []string {
	base := filepath.Join(l.sys, "fs/cgroup")
	if controllers == nil {
		return []string{base, filepath.Join(base, "unified")}
	}
	var out []string
	for _, c := range controllers {
		if c == "pids" || c == "memory" {
			out = append(out, filepath.Join(base, c))
		}
	}
	return out
}

func cgroupBounds(dir string) []bound {
	var out []bound
	for _, f := range []struct{ class, what, used, max string }{
		{record.LimitProcesses, "pids.max of the cgroup ", "pids.current", "pids.max"},
		{record.LimitMemory, "memory.max of the cgroup ", "memory.current", "memory.max"},
		{record.LimitMemory, "memory.limit_in_bytes of the cgroup ", "memory.usage_in_bytes", "memory.limit_in_bytes"},
	} {
		used, ok := number(filepath.Join(dir, f.used))
		most, ok2 := number(filepath.Join(dir, f.max)) // "max" is no number: no limit
		if ok && ok2 && most < 1<<60 {
			if f.class == record.LimitMemory {
				used -= pageCache(dir)
			}
			out = append(out, bound{class: f.class, name: f.what + dir, used: used, max: most})
		}
	}
	return out
}

// pageCache is the part of a cgroup's memory that the kernel takes back before
// it says no.
func pageCache(dir string) int64 {
	b, err := os.ReadFile(filepath.Join(dir, "memory.stat"))
	if err != nil {
		return 0
	}
	for _, key := range []string{"total_inactive_file ", "inactive_file "} {
		for line := range strings.Lines(string(b)) {
			if rest, ok := strings.CutPrefix(line, key); ok {
				n, _ := strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
				return n
			}
		}
	}
	return 0
}

// census looks at all processes, once: who holds inotify instances, and how
// many namespaces there are. It takes some milliseconds for each hundred
// processes, so it is done before a ramp and after a failure only.
func (l limitsReader) census() []bound {
	instances := map[string]int64{} // by user
	spaces := map[string]map[string]bool{}
	dirs, _ := filepath.Glob(filepath.Join(l.proc, "[0-9]*"))
	for _, dir := range dirs {
		var st unix.Stat_t
		if unix.Stat(dir, &st) != nil {
			continue
		}
		fds, _ := os.ReadDir(filepath.Join(dir, "fd"))
		for _, fd := range fds {
			if to, err := os.Readlink(filepath.Join(dir, "fd", fd.Name())); err == nil && to == "anon_inode:inotify" {
				instances[strconv.Itoa(int(st.Uid))]++
			}
		}
		for _, kind := range []string{"net", "mnt", "pid", "user", "ipc", "uts", "cgroup"} {
			if to, err := os.Readlink(filepath.Join(dir, "ns", kind)); err == nil {
				if spaces[kind] == nil {
					spaces[kind] = map[string]bool{}
				}
				spaces[kind][to] = true
			}
		}
	}
	var out []bound
	if most, ok := number(filepath.Join(l.proc, "sys/fs/inotify/max_user_instances")); ok {
		for uid, n := range instances {
			out = append(out, bound{class: record.LimitInotify, name: "fs.inotify.max_user_instances (of user " + uid + ")", used: n, max: most})
		}
	}
	for kind, set := range spaces {
		if most, ok := number(filepath.Join(l.proc, "sys/user/max_"+kind+"_namespaces")); ok {
			out = append(out, bound{class: record.LimitNamespaces, name: "user.max_" + kind + "_namespaces", used: int64(len(set)), max: most})
		}
	}
	return out
}

// number reads a file that holds one.
func number(path string) (int64, bool) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	return n, err == nil
}
