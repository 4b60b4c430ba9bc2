//go:build linux

package proc

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Hierarchy is one mounted tree of control groups.
type Hierarchy struct {
	Mount       string   // where it is mounted
	Root        string   // which group is its root there; "/" is all of it
	Unified     bool     // version 2
	Controllers []string // of version 1, among other options of the mount
}

// Has says whether a hierarchy of version 1 has this controller.
func (h Hierarchy) Has(controller string) bool { return slices.Contains(h.Controllers, controller) }

// Hierarchies are the mounted trees of control groups, in the order in which
// they were mounted.
func Hierarchies(mounts []*Mount) []Hierarchy {
	var all []Hierarchy
	for _, m := range mounts {
		switch h := (Hierarchy{Mount: m.Mountpoint, Root: m.Root}); m.FSType {
		case "cgroup2":
			h.Unified = true
			all = append(all, h)
		case "cgroup":
			h.Controllers = strings.Split(m.VFSOptions, ",")
			all = append(all, h)
		}
	}
	return all
}

// Hierarchies are those that we see.
func (d Dir) Hierarchies() ([]Hierarchy, error) {
	mounts, err := d.Mounts(Self)
	return Hierarchies(mounts), err
}

// Controller is the state of one controller of control groups in the kernel.
type Controller struct {
	V1       bool // bound to a hierarchy of version 1, whether that is mounted here or not
	Disabled bool // by the kernel's command line
}

// Controller reads the line of a controller in /proc/cgroups, see cgroups(7). One that is
// not listed is neither bound to version 1 nor disabled: newer kernels list those of
// version 1 alone.
func (d Dir) Controller(name string) (c Controller, err error) {
	text, err := d.read("cgroups")
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 4 && f[0] == name { // name, hierarchy, groups, enabled
			c = Controller{V1: f[1] != "0", Disabled: f[3] == "0"}
		}
	}
	return c, err
}

// Group is where a process is in one hierarchy: the unified one has no
// controllers.
type Group struct {
	Controllers []string
	Path        string
}

// Groups are where a process is.
type Groups []Group

// Groups reads a process's cgroup file; source: cgroups(7).
func (d Dir) Groups(who string) (Groups, error) {
	text, err := d.read(who, "cgroup")
	if err != nil {
		return nil, err
	}
	return ParseGroups(text)
}

// ParseGroups reads the text of one.
func ParseGroups(text string) (Groups, error) {
	var all Groups
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		f := strings.SplitN(line, ":", 3)
		if len(f) != 3 || !path.IsAbs(f[2]) {
			return nil, fmt.Errorf("%.80q is not a line of /proc/PID/cgroup", line)
		}
		g := Group{Path: f[2]}
		if f[1] != "" {
			g.Controllers = strings.Split(f[1], ",")
		}
		all = append(all, g)
	}
	return all, nil
}

// In returns where these groups are in a mounted hierarchy: their paths with its mount
// point before them. Its root is left out.
func (g Groups) In(h Hierarchy) []string {
	var found []string
	for _, one := range g {
		same := h.Unified && one.Controllers == nil || !h.Unified && len(one.Controllers) > 0 && h.Has(one.Controllers[0])
		if rel, err := filepath.Rel(h.Root, one.Path); same && err == nil && rel != "." && Under(one.Path, h.Root) {
			found = append(found, path.Join(h.Mount, rel))
		}
	}
	return found
}

// ByController gives the paths by controller; the unified hierarchy's is "".
func (g Groups) ByController() map[string]string {
	paths := map[string]string{}
	for _, one := range g {
		if one.Controllers == nil {
			paths[""] = one.Path
		}
		for _, c := range one.Controllers {
			paths[c] = one.Path
		}
	}
	return paths
}
