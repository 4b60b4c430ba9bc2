package cgroup

import "plimsoll/internal/measure/host/proc"

// Version is the version of the control groups whose controllers containers
// get here, "v1" or "v2": in a hybrid v1, and "" where none are mounted.
func Version() string {
	hierarchies, _ := proc.Here.Hierarchies()
	return versionOf(hierarchies)
}

func versionOf(hierarchies []proc.Hierarchy) string {
	version := ""
	for _, h := range hierarchies {
		switch {
		case h.Unified && version == "":
			version = "v2"
		case h.Has("cpu"), h.Has("memory"), h.Has("pids"):
			return "v1"
		}
	}
	return version
}

// Driver is the fact of engines that make their groups by themselves.
const Driver = "cgroupfs"
