package wrap

import "os"

// Version is the version of the control groups whose controllers containers
// get here, "v1" or "v2": in a hybrid v1, and "" where none are mounted.
func Version() string { return versionAt("/proc/self/mountinfo") }

func versionAt(mountinfo string) string {
	text, err := os.ReadFile(mountinfo)
	if err != nil {
		return ""
	}
	version := ""
	for _, h := range parseHierarchies(string(text)) {
		switch {
		case h.v2 && version == "":
			version = "v2"
		case h.has("cpu"), h.has("memory"), h.has("pids"):
			return "v1"
		}
	}
	return version
}

// Driver is the fact of engines that make their groups by themselves.
const Driver = "cgroupfs"
