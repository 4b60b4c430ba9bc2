package lxc

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/measure/image"
)

// initCommand is PID 1 by steps.
const initCommand = image.ProbePath + " init"

// config is the environment's configuration file: all but what is each
// container's own. groups are the machine's hierarchies of control groups.
func config(spec engine.Spec, include bool, groups []proc.Hierarchy) string {
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
	// A key is written for the version that the controller is bound to: LXC 4 to 6 pass
	// over the other version's, and LXC 7 refuses the whole file for a key of version 1.
	v1 := func(controller string) bool {
		return slices.ContainsFunc(groups, func(h proc.Hierarchy) bool { return h.Has(controller) })
	}
	if c := spec.Limits.CPUs; c > 0 {
		quota := int(c*100000 + 0.5)
		if v1("cpu") {
			set("lxc.cgroup.cpu.cfs_period_us", "100000")
			set("lxc.cgroup.cpu.cfs_quota_us", "%d", quota)
		} else {
			set("lxc.cgroup2.cpu.max", "%d 100000", quota)
		}
	}
	if m := spec.Limits.MemoryBytes; m > 0 {
		if v1("memory") {
			set("lxc.cgroup.memory.limit_in_bytes", "%d", m)
		} else {
			set("lxc.cgroup2.memory.max", "%d", m)
		}
	}
	return b.String()
}

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
