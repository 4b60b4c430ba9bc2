package lxc

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/record"
)

// initCommand is PID 1 by steps.
const initCommand = image.ProbePath + " init"

// config is the environment's configuration file: all but what is each
// container's own. limits are what limitKeys returns.
func config(spec engine.Spec, include bool, limits [][2]string) string {
	var b strings.Builder
	set := func(key, format string, args ...any) {
		fmt.Fprintf(&b, "%s = %s\n", key, fmt.Sprintf(format, args...))
	}
	if include {
		set("lxc.include", "%s", common)
	} else {
		set("lxc.mount.auto", "cgroup:mixed proc:mixed sys:mixed")
	}
	if _, err := os.Stat("/sys/kernel/security/apparmor"); err == nil && !spec.Omits(engine.AppArmor) {
		set("lxc.apparmor.profile", "generated") // as the default configuration has it
	}
	// An image's own environment, as engines with images give it.
	set("lxc.environment", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	switch network(spec) {
	case "none":
		set("lxc.net.0.type", "empty")
		set("lxc.net.0.flags", "up") // the loopback, which else stays down
	case "host":
		set("lxc.net.0.type", "none")
	case "bridge":
		set("lxc.net.0.type", "veth")
		set("lxc.net.0.link", bridge)
		set("lxc.net.0.flags", "up")
	}
	if spec.Level(engine.Storage) != "overlay" {
		set("lxc.rootfs.options", "ro") // the directory is the image itself, which all share; see view
	}
	for _, kv := range changed(spec) {
		set(kv[0], "%s", kv[1])
	}
	set("lxc.init.cmd", "%s", initCommand)
	for _, kv := range limits {
		set(kv[0], "%s", kv[1])
	}
	return b.String()
}

// limitKeys returns the settings that limit a container, for this version of LXC on a
// machine with these hierarchies of control groups. A controller has the keys of the cgroup
// version that it is bound to: LXC 4 to 6 ignore the other version's. LXC 7 has no keys of
// version 1 and refuses a file with one, so that the error is record.Unsupported there.
func limitKeys(limits engine.Limits, version string, groups []proc.Hierarchy) (keys [][2]string, err error) {
	for _, l := range []struct {
		controller string
		limited    bool
		v1, v2     [][2]string
	}{
		{"cpu", limits.CPUs > 0,
			[][2]string{{"lxc.cgroup.cpu.cfs_period_us", "100000"}, {"lxc.cgroup.cpu.cfs_quota_us", quota(limits.CPUs)}},
			[][2]string{{"lxc.cgroup2.cpu.max", quota(limits.CPUs) + " 100000"}}},
		{"memory", limits.MemoryBytes > 0,
			[][2]string{{"lxc.cgroup.memory.limit_in_bytes", fmt.Sprint(limits.MemoryBytes)}},
			[][2]string{{"lxc.cgroup2.memory.max", fmt.Sprint(limits.MemoryBytes)}}},
	} {
		switch {
		case !l.limited:
		case !slices.ContainsFunc(groups, func(h proc.Hierarchy) bool { return h.Has(l.controller) }):
			keys = append(keys, l.v2...)
		case adapter.MajorVersion(version) >= 7:
			return nil, &engine.Error{Class: record.Unsupported, Text: fmt.Sprintf("LXC %s limits by cgroup version 2 alone, and the controller %s is bound to version 1 here", version, l.controller),
				Fix: "boot with systemd.unified_cgroup_hierarchy=1, or measure without limits"}
		default:
			keys = append(keys, l.v1...)
		}
	}
	return keys, nil
}

// quota returns the microseconds of processor time in each 100 000.
func quota(cpus float64) string { return fmt.Sprint(int(cpus*100000 + 0.5)) }

// network is the level in force: by default LXC's bridge where there is one,
// as distributions configure it; none is what LXC calls empty.
func network(spec engine.Spec) string {
	switch l := spec.Level(engine.Network); {
	case l != engine.DefaultLevel:
		return l
	case hasBridge():
		return "bridge"
	}
	return "none"
}

// place is where a container's own files lie: its overlay, its console.
func (e *environment) place(name string) string { return filepath.Join(e.dir, "run", name) }

func (e *environment) console(name string) string { return filepath.Join(e.place(name), "console") }

// own are the settings of one container, as options of lxc-start and
// lxc-execute.
func (e *environment) own(name string, set ...string) []string {
	root := "overlay:" + e.image + ":" + filepath.Join(e.place(name), "delta")
	if !e.overlay {
		root = "dir:" + e.view.Path
	}
	args := []string{"-n", name, "-P", e.dir, "-f", filepath.Join(e.dir, "config")}
	for _, kv := range append([]string{"lxc.rootfs.path=" + root, "lxc.uts.name=" + name}, set...) {
		args = append(args, "-s", kv)
	}
	return args
}
