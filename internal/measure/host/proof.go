//go:build linux

package host

import (
	"slices"
	"strings"
)

// minName is the length of the shortest name that is looked for: a shorter one
// would be found in anything.
const minName = 8

// proved says whether an item is proved to be the run's. dir is the run's
// folder, clean, or empty.
func (i *Item) proved(m Marks, dir string) bool {
	below := func(p string) bool { return dir != "" && (p == dir || strings.HasPrefix(p, dir+"/")) }
	listed := func(p string) bool {
		return slices.ContainsFunc(m.Paths, func(l string) bool { return p == l || strings.HasPrefix(p, l+"/") })
	}
	switch i.Kind {
	case KindMount:
		return below(i.Point) || listed(i.Point) || m.names(i.Point)
	case KindCgroup:
		return listed(i.Name) || m.names(i.Name)
	case KindNetNS:
		return listed(i.Name) || m.names(i.Name)
	case KindLink:
		return slices.Contains(m.Paths, i.Name)
	case KindLoop:
		return below(strings.TrimSuffix(i.Detail, " (deleted)"))
	case KindProcess:
		return below(i.exe) || i.root != "/" && below(i.root) || m.holds(i.cgroup) || i.helps(m, below)
	}
	return false
}

// names says whether a part of a path is one of the run's names: whole, or
// behind what an engine puts before it with a dot or a colon (lxc.payload.NAME).
func (m Marks) names(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		for _, n := range m.Names {
			if len(n) < minName {
				continue
			}
			rest, ok := strings.CutSuffix(strings.TrimSuffix(part, ".scope"), n)
			if ok && (rest == "" || strings.HasSuffix(rest, ".") || strings.HasSuffix(rest, ":") ||
				strings.HasSuffix(rest, "-") && len(n) == idLength) {
				return true
			}
		}
	}
	return false
}

// idLength is that of the ids that engines give to containers, behind which a
// name may be put with a dash (libpod-ID).
const idLength = 64

// holds says whether one of the control groups of a process, as /proc tells
// them, is the run's: below one that is listed, or named.
func (m Marks) holds(cgroups string) bool {
	for cg := range strings.FieldsSeq(cgroups) {
		if m.names(cg) {
			return true
		}
		for _, l := range m.Paths {
			// The ledger has the path with its mount point before it.
			if i := strings.LastIndex(l, "/"); i >= 0 && len(l)-i > minName &&
				(strings.HasSuffix(l, cg) && strings.HasPrefix(l, "/sys/fs/cgroup/") || strings.HasPrefix(cg, l[i:]+"/")) {
				return true
			}
		}
	}
	return false
}

// helps says whether a process is what an engine puts beside a container of the
// run's: a helper by its program's name, of which one argument is the
// container's name, or a path in the run's folder.
func (i *Item) helps(m Marks, below func(string) bool) bool {
	if !hasPrefixAny(i.comm, m.Helpers...) {
		return false
	}
	return slices.ContainsFunc(i.args, func(a string) bool {
		_, value, _ := strings.Cut(a, "=")
		return len(a) >= minName && slices.Contains(m.Names, a) || below(a) || below(value)
	})
}
