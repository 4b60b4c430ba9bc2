//go:build linux

package cli

import (
	"fmt"
	"maps"
	"regexp"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host"
	"plimsoll/internal/measure/tune"
	"plimsoll/internal/record"
)

// cgroupLevels are the ways in which a machine can have control groups.
var cgroupLevels = []string{engine.DefaultLevel, "v1", "hybrid", "v2"}

// withMachine adds to an engine's levels those that are the machine's, and what
// all adapters take alike: limits, builds of their programs, and where images lie
// that are used in place. Every engine on a host is under the host's cgroups, without a choice.
func withMachine(i engine.Info) map[string][]string {
	if i.Simulated || len(i.Levels[engine.Cgroup]) > 0 {
		return i.Levels
	}
	levels := maps.Clone(i.Levels)
	if levels == nil {
		levels = map[string][]string{}
	}
	levels[engine.Cgroup] = cgroupLevels
	levels[engine.CPULimit], levels[engine.MemoryLimit] = engine.CPULimits, engine.MemoryLimits
	levels[engine.Tuned] = append([]string{engine.DefaultLevel, tune.Everything}, tune.Levels()...)
	if len(i.Programs) > 0 {
		levels[engine.Build] = []string{engine.DefaultLevel}
	}
	if i.InPlace {
		levels[engine.ImageOn] = []string{engine.DefaultLevel}
	}
	return levels
}

// onMachine says whether the machine is as asked for, and if not, how it could
// be made so. Of its layout nothing is ever changed by us.
func onMachine(h record.Host, levels map[string]string) (ok bool, reason, fix string) {
	if _, why := (tune.Machine{}).Wanted(levels[engine.Tuned]); why != nil {
		return false, why.Error(), "plimsoll tune lists what can be set here"
	}
	want := levels[engine.Cgroup]
	if want == "" || want == engine.DefaultLevel || h.Cgroup == "" || h.Cgroup == want {
		return true, "", ""
	}
	// In the hybrid layout cgroup2 is mounted for its tree only; the
	// controllers, and so the engines, are those of v1.
	if want == "v1" && h.Cgroup == "hybrid" {
		return true, "", ""
	}
	reason = fmt.Sprintf("this machine has cgroup %s, not %s", h.Cgroup, want)
	switch want {
	case "v2":
		fix = "boot with the kernel parameter systemd.unified_cgroup_hierarchy=1 (without systemd: mount only cgroup2, on /sys/fs/cgroup)"
	case "hybrid":
		fix = "boot with the kernel parameters systemd.unified_cgroup_hierarchy=0 systemd.legacy_systemd_cgroup_controller=0 (systemd before 256)"
	case "v1":
		fix = "boot with the kernel parameters systemd.unified_cgroup_hierarchy=0 systemd.legacy_systemd_cgroup_controller=1 (systemd before 256)"
	}
	return false, reason, fix
}

// containersOf are the containers that doctor can name.
func containersOf(engines []engine.Engine) []host.Containers {
	var all []host.Containers
	for _, e := range engines {
		info := e.Info()
		for _, c := range info.Cgroups {
			known := host.Containers{Engine: info.Title, Path: regexp.MustCompile(c.Path), Holder: c.Holder} // a test compiles each
			if c.Whose != "" {
				known.Engine = c.Whose
			}
			all = append(all, known)
		}
	}
	return all
}
