package run

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// insider turns a payload's report into record.Inside: inodes become "own" or
// "host", and what is different in every trial (pids, clocks, ids in paths) is
// left out or made anonymous, so that two containers of the same make give
// the same Inside.
type insider struct {
	host  map[string]string // the host's namespaces, by kind
	boot  string            // the host's boot id
	paths *paths
}

var namespaceKinds = []string{"mnt", "pid", "net", "ipc", "uts", "user", "cgroup", "time"}

func newInsider(runID string) (*insider, error) {
	i := &insider{paths: newPaths(runID), host: map[string]string{}}
	for _, kind := range namespaceKinds {
		link, err := os.Readlink("/proc/self/ns/" + kind)
		if os.IsNotExist(err) {
			continue // this kernel has no such kind
		}
		if err != nil {
			return nil, fmt.Errorf("reading our own namespaces: %w", err)
		}
		i.host[kind] = strings.TrimSuffix(strings.TrimPrefix(link, kind+":["), "]")
	}
	boot, err := proc.Here.Boot()
	if err != nil {
		return nil, fmt.Errorf("reading our own boot id: %w", err)
	}
	i.boot = boot
	return i, nil
}

// fleeting are the keys that differ from trial to trial by nature, or that
// have a field of their own.
var fleeting = []string{
	"clock.", "pid", "ppid", "uname.nodename", "uid", "gid", "euid", "egid", "uid_map", "gid_map",
	"ns.", "throttled_time", "throttled_usec", "cap.eff", "cap.bnd", "seccomp", "no_new_privs", "cgroup.", "root.", "uname.release",
}

func isFleeting(key string) bool {
	return slices.ContainsFunc(fleeting, func(f string) bool {
		return key == f || strings.HasSuffix(f, ".") && strings.HasPrefix(key, f)
	})
}

// volatile is the one option of a whole file system that a reader must know: of
// what such an overlay is told to sync, nothing reaches the disk. Kernels since
// about 6.18 spell it fsync=volatile.
func volatile(options string) string {
	for o := range strings.SplitSeq(options, ",") {
		if strings.TrimPrefix(o, "fsync=") == record.Volatile {
			return "," + record.Volatile
		}
	}
	return ""
}

// read makes the Inside of one report.
func (i *insider) read(env string, report map[string]string) record.Inside {
	in := record.Inside{
		Env:        env,
		Namespaces: map[string]string{},
		UID:        report["uid"] + ":" + report["gid"],
		UIDMap:     report["uid_map"],
		GIDMap:     report["gid_map"],
		CapEff:     report["cap.eff"],
		CapBnd:     report["cap.bnd"],
		Seccomp:    report["seccomp"],
		NoNewPrivs: report["no_new_privs"],
		Root:       strings.TrimSpace(report["root.fs"] + " " + report["root.mount_options"] + volatile(report["root.options"])),
		Kernel:     report["uname.release"],
		More:       map[string]string{},
	}
	for _, kind := range namespaceKinds {
		switch inode := report["ns."+kind]; {
		case inode == "":
		case inode == i.host[kind]:
			in.Namespaces[kind] = "host"
		default:
			in.Namespaces[kind] = "own"
		}
	}
	var groups []string
	for _, key := range slices.Sorted(maps.Keys(report)) {
		switch {
		case strings.HasPrefix(key, "cgroup."):
			groups = append(groups, strings.TrimPrefix(key, "cgroup.")+"="+i.paths.anonymous(env, key, report[key]))
		case key == "boot_id": // LXC gives every container one of its own
			in.More[key] = "own"
			if report[key] == i.boot {
				in.More[key] = "host"
			}
		case !isFleeting(key):
			in.More[key] = i.paths.anonymous(env, key, report[key])
		}
	}
	in.Cgroup = strings.Join(groups, " ")
	return in
}

// differs says in what that matters two containers of one environment differ.
func differs(a, b record.Inside) string {
	for _, kind := range namespaceKinds {
		if a.Namespaces[kind] != b.Namespaces[kind] {
			return fmt.Sprintf("its %s namespace is %q, not %q", kind, b.Namespaces[kind], a.Namespaces[kind])
		}
	}
	for _, f := range []struct{ what, a, b string }{
		{"user inside", a.UID, b.UID},
		{"user map", a.UIDMap, b.UIDMap},
		{"effective capabilities", a.CapEff, b.CapEff},
		{"seccomp mode", a.Seccomp, b.Seccomp},
		{"no_new_privs", a.NoNewPrivs, b.NoNewPrivs},
		{"root file system", a.Root, b.Root},
		{"kernel", a.Kernel, b.Kernel},
	} {
		if f.a != f.b {
			return fmt.Sprintf("its %s is %q, not %q", f.what, f.b, f.a)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(a.More)) {
		if strings.HasPrefix(key, "limit.") && a.More[key] != b.More[key] {
			return fmt.Sprintf("its %s is %q, not %q", key, b.More[key], a.More[key])
		}
	}
	return ""
}
