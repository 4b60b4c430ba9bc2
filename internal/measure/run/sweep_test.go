package run

import (
	"slices"
	"testing"

	"plimsoll/internal/measure/host"
)

// TestDeepestFirst: what is mounted in another mount goes before it, whatever
// is said of either behind its path.
func TestDeepestFirst(t *testing.T) {
	items := host.Residue{
		{Kind: host.KindMount, Proved: true, Point: "/r/dev", Name: "/r/dev (devtmpfs from devtmpfs, id 98)"},
		{Kind: host.KindCgroup, Proved: true, Name: "/sys/fs/cgroup/cpu/plimsoll-x"},
		{Kind: host.KindMount, Proved: true, Point: "/r", Name: "/r (ext4 from /dev/a-disk-with-a-long-name, id 68)"},
		{Kind: host.KindMount, Proved: true, Point: "/r/dev/shm", Name: "/r/dev/shm (tmpfs from shm, id 100)"},
	}
	var got []string
	for _, it := range deepestFirst(items, host.KindMount) {
		got = append(got, it.Point)
	}
	if len(got) != 3 || got[0] != "/r/dev/shm" || got[1] != "/r/dev" || got[2] != "/r" {
		t.Errorf("%q", got)
	}
}

// A control group can't be removed before those in it.
func TestGroupsGoBeforeTheirParents(t *testing.T) {
	const top = "/sys/fs/cgroup/systemd/nspawn-x"
	items := host.Residue{{Kind: host.KindCgroup, Name: top, Proved: true}, {Kind: host.KindCgroup, Name: top + "/payload", Proved: true},
		{Kind: host.KindCgroup, Name: top + "/payload/deep", Proved: true}, {Kind: host.KindCgroup, Name: top + "/another's"}}
	var got []string
	for _, it := range deepestFirst(items, host.KindCgroup) {
		got = append(got, it.Name)
	}
	if want := []string{top + "/payload/deep", top + "/payload", top}; !slices.Equal(got, want) {
		t.Errorf("removed in the order %q, want %q", got, want)
	}
}
