package host

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
)

// Mount is one line of mountinfo; source: proc(5).
type Mount struct {
	ID      string
	Root    string // the part of the file system that is mounted
	Point   string
	Type    string
	Source  string
	Options string // of the file system
}

// MountPoints lists where something is mounted in our mount namespace.
func (m Machine) MountPoints() ([]string, error) {
	mounts, err := parse(m, "/proc/self/mountinfo", parseMountinfo)
	points := make([]string, 0, len(mounts))
	for _, mnt := range mounts {
		points = append(points, mnt.Point)
	}
	return points, err
}

// parseMountinfo reads /proc/PID/mountinfo.
func parseMountinfo(r io.Reader) ([]Mount, error) {
	var l []Mount
	err := lines(r, func(s string) error {
		if s == "" {
			return nil
		}
		before, after, ok := strings.Cut(s, " - ")
		b, a := strings.Split(before, " "), strings.Split(after, " ")
		if !ok || len(b) < 6 || len(a) < 2 {
			return fmt.Errorf("%q is no line of mountinfo", s)
		}
		m := Mount{ID: b[0], Root: unescape(b[3]), Point: unescape(b[4]), Type: a[0], Source: unescape(a[1])}
		if len(a) > 2 {
			m.Options = a[2]
		}
		l = append(l, m)
		return nil
	})
	return l, err
}

// unescape undoes the kernel's octal escapes of space, tab, newline and
// backslash.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) && octal(s[i+1]) && octal(s[i+2]) && octal(s[i+3]) {
			b.WriteByte((s[i+1]-'0')<<6 | (s[i+2]-'0')<<3 | (s[i+3] - '0'))
			i += 3
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func octal(c byte) bool { return c >= '0' && c <= '7' }

// mountOf finds the mount that a clean absolute path lies on: the last one
// whose point is the longest, since a later mount covers an earlier.
func mountOf(mounts []Mount, p string) (Mount, bool) {
	best, found := Mount{}, false
	for _, m := range mounts {
		if under(p, m.Point) && (!found || len(m.Point) >= len(best.Point)) {
			best, found = m, true
		}
	}
	return best, found
}

// under says whether p is dir or lies below it.
func under(p, dir string) bool {
	return p == dir || dir == "/" || strings.HasPrefix(p, dir+"/")
}

// cgroups is the machine's cgroup layout.
type cgroups struct {
	Mode string            // "v1", "v2", "hybrid", or "" where none is mounted
	V1   map[string]string // mount point by controller; named hierarchies as "name=…"
	V2   string            // mount point, or ""
}

// cgroupLayout decides the mode by what is mounted: cgroup2 alone is v2, v1
// hierarchies alone are v1, both are hybrid, whichever holds the controllers.
// Source: Documentation/admin-guide/cgroup-v2.rst; the name hybrid is systemd's.
func cgroupLayout(mounts []Mount) cgroups {
	c := cgroups{V1: map[string]string{}}
	for _, m := range mounts {
		switch m.Type {
		case "cgroup2":
			// Somebody may have mounted it a second time: the usual place counts.
			if c.V2 == "" || under(m.Point, "/sys/fs/cgroup") {
				c.V2 = m.Point
			}
		case "cgroup":
			for o := range strings.SplitSeq(m.Options, ",") {
				if o == "rw" || o == "ro" || o == "" || o == "xattr" || o == "noprefix" || o == "clone_children" ||
					strings.HasPrefix(o, "release_agent=") || strings.HasPrefix(o, "cpuset_v2_mode") {
					continue
				}
				if _, had := c.V1[o]; !had {
					c.V1[o] = m.Point
				}
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

// parseSelfCgroup reads /proc/PID/cgroup: the path in each hierarchy by
// controller; the unified one has the key "".
func parseSelfCgroup(r io.Reader) (map[string]string, error) {
	v := map[string]string{}
	err := lines(r, func(s string) error {
		f := strings.SplitN(s, ":", 3)
		if len(f) != 3 {
			return fmt.Errorf("%q is no line of /proc/PID/cgroup", s)
		}
		if !path.IsAbs(f[2]) {
			return errors.New("a cgroup's path is not absolute: " + f[2])
		}
		for c := range strings.SplitSeq(f[1], ",") {
			v[c] = f[2]
		}
		return nil
	})
	return v, err
}
