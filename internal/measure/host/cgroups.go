//go:build linux

package host

import (
	"maps"
	"slices"
	"strings"

	"plimsoll/internal/measure/host/proc"
)

// cgroups is the machine's cgroup layout.
type cgroups struct {
	Mode string            // "v1", "v2", "hybrid", or "" where none is mounted
	V1   map[string]string // mount point by controller; named hierarchies as "name=…"
	V2   string            // mount point, or ""
}

// cgroupLayout decides the mode by what is mounted: cgroup2 alone is v2, v1
// hierarchies alone are v1, both are hybrid, whichever holds the controllers.
// Source: Documentation/admin-guide/cgroup-v2.rst; the name hybrid is systemd's.
func cgroupLayout(mounts []*proc.Mount) cgroups {
	c := cgroups{V1: map[string]string{}}
	for _, h := range proc.Hierarchies(mounts) {
		if h.Unified {
			// Somebody may have mounted it a second time: the usual place counts.
			if c.V2 == "" || proc.Under(h.Mount, "/sys/fs/cgroup") {
				c.V2 = h.Mount
			}
			continue
		}
		for _, o := range h.Controllers {
			if o == "rw" || o == "ro" || o == "" || o == "xattr" || o == "noprefix" || o == "clone_children" ||
				strings.HasPrefix(o, "release_agent=") || strings.HasPrefix(o, "cpuset_v2_mode") {
				continue
			}
			if _, had := c.V1[o]; !had {
				c.V1[o] = h.Mount
			}
		}
	}
	controllers := len(c.controllersV1()) > 0
	switch {
	case c.V2 != "" && !controllers:
		c.Mode = "v2"
	case c.V2 != "":
		c.Mode = "hybrid"
	case len(c.V1) > 0:
		c.Mode = "v1"
	}
	return c
}

// controllersV1 lists the controllers on v1 hierarchies, sorted.
func (c cgroups) controllersV1() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(c.V1)), func(k string) bool { return strings.HasPrefix(k, "name=") })
}
