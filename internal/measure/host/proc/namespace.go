//go:build linux

package proc

import (
	"os"
	"path/filepath"
	"slices"
)

// HasNamespace says whether a namespace is still there that is called name (such as
// net:[4026531840]), as far as one can see from here: a process is in it, or it is
// mounted somewhere. Source: namespaces(7).
func (d Dir) HasNamespace(kind, name string) bool {
	in := func(pid int) bool {
		link, err := os.Readlink(filepath.Join(string(d), PID(pid), "ns", kind))
		return err == nil && link == name
	}
	mounts, _ := d.Mounts(Self)
	return slices.ContainsFunc(d.PIDs(), in) ||
		slices.ContainsFunc(mounts, func(m *Mount) bool { return m.FSType == "nsfs" && m.Root == name })
}
