package run

import (
	"testing"

	"plimsoll/internal/measure/host"
)

// TestDeepestFirst: what is mounted in another mount goes before it, whatever
// is said of either behind its path.
func TestDeepestFirst(t *testing.T) {
	items := host.Residue{
		{Kind: host.KindMount, Proved: true, Point: "/r/dev", Name: "/r/dev (devtmpfs from devtmpfs, id 98)"},
		{Kind: host.KindCgroup, Proved: true, Name: "/sys/fs/cgroup/cpu/plimsoll-x"},
		{Kind: host.KindCgroup, Proved: true, Name: "/sys/fs/cgroup/cpu/plimsoll-x/payload"},
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
	if groups := deepestFirst(items, host.KindCgroup); len(groups) != 2 || groups[0].Name != "/sys/fs/cgroup/cpu/plimsoll-x/payload" {
		t.Errorf("%v", groups)
	}
}
