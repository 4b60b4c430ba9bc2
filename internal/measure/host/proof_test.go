//go:build linux

package host

import (
	"os"
	"path/filepath"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/host/proc"
)

// TestProved: what may be taken away of a run, and what only looks like it.
func TestProved(t *testing.T) {
	const id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	root := t.TempDir()
	m := Marks{RunID: "ab12cd34", Dir: "/var/lib/plimsoll/runs/ab12cd34", Mark: "LC_PLIMSOLL=ab12cd34/secret",
		Names:   []string{"plimsoll-ab12cd34-7", id},
		Paths:   []string{"/sys/fs/cgroup/cpu/plimsoll-ab12cd34-native", "/somewhere/mounted", "plmab12cd34", "/run/netns/ab12cd34", "/run/containerd/x/plimsoll-ab12cd34"},
		Helpers: []string{"conmon", "lxc", "exe"}}
	in := func(controller, path string) Item {
		h := proc.Hierarchy{Mount: "/sys/fs/cgroup/" + controller, Root: "/", Controllers: []string{"rw", controller}}
		return Item{Kind: KindProcess, comm: "sh", exe: "/bin/sh", root: "/", machine: Machine{Root: root},
			groups: proc.Groups{{Controllers: []string{controller}, Path: path}, {Path: path}}.In(h)}
	}
	// started is a process of that name with this environment.
	started := func(comm, env string) Item {
		pid := 1000 + len(env)
		require.NoError(t, os.MkdirAll(filepath.Join(root, "proc", proc.PID(pid)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, "proc", proc.PID(pid), "environ"), []byte(env), 0o644))
		return Item{Kind: KindProcess, PID: pid, comm: comm, exe: "/bin/" + comm, root: "/", Helper: hasPrefixAny(comm, m.Helpers...), machine: Machine{Root: root}}
	}
	of := func(exe, root string) Item { return Item{Kind: KindProcess, comm: "x", exe: exe, root: root} }
	for name, c := range map[string]struct {
		it   Item
		want bool
	}{
		"mount in the folder":                        {Item{Kind: KindMount, Point: m.Dir + "/x", Name: m.Dir + "/x (overlay from overlay, id 5)"}, true},
		"mount in a folder named alike":              {Item{Kind: KindMount, Point: m.Dir + "x/y", Name: m.Dir + "x/y (overlay from overlay, id 5)"}, false},
		"mount of the ledger":                        {Item{Kind: KindMount, Point: "/somewhere/mounted", Name: "/somewhere/mounted (tmpfs from tmpfs, id 5)"}, true},
		"a bundle of a container":                    {Item{Kind: KindMount, Point: "/run/containerd/x/plimsoll-ab12cd34/plimsoll-ab12cd34-7/rootfs"}, true},
		"a user's mount with our words":              {Item{Kind: KindMount, Point: "/home/u/plimsoll-ab12cd34"}, false},
		"a user's mount named like a container":      {Item{Kind: KindMount, Point: "/home/u/plimsoll-ab12cd34-7"}, false},
		"a user's mount of our folder":               {Item{Kind: KindMount, Point: "/mnt", Name: "/mnt (ext4 from " + m.Dir + ", id 5)"}, false},
		"cgroup of the ledger":                       {Item{Kind: KindCgroup, Name: "/sys/fs/cgroup/cpu/plimsoll-ab12cd34-native"}, true},
		"below it":                                   {Item{Kind: KindCgroup, Name: "/sys/fs/cgroup/cpu/plimsoll-ab12cd34-native/payload"}, true},
		"of its name in another hierarchy":           {Item{Kind: KindCgroup, Name: "/sys/fs/cgroup/pids/plimsoll-ab12cd34-native"}, false},
		"of its name elsewhere":                      {Item{Kind: KindCgroup, Name: "/sys/fs/cgroup/cpu/user/plimsoll-ab12cd34-native"}, false},
		"another of the run's name":                  {Item{Kind: KindCgroup, Name: "/sys/fs/cgroup/cpu/plimsoll-ab12cd34-mine"}, false},
		"named like a container":                     {Item{Kind: KindCgroup, Name: "/sys/fs/cgroup/cpu/user/lxc.payload.plimsoll-ab12cd34-7"}, false},
		"named like an engine's group of an id":      {Item{Kind: KindCgroup, Name: "/sys/fs/cgroup/machine.slice/libpod-" + id + ".scope"}, false},
		"network namespace of the ledger":            {Item{Kind: KindNetNS, Name: "/run/netns/ab12cd34"}, true},
		"a network namespace named like a container": {Item{Kind: KindNetNS, Name: "/run/netns/plimsoll-ab12cd34-7"}, false},
		"link of the ledger":                         {Item{Kind: KindLink, Name: "plmab12cd34"}, true},
		"a link of the same prefix":                  {Item{Kind: KindLink, Name: "plmab12cd"}, false},
		"loop device in the folder":                  {Item{Kind: KindLoop, Name: "loop0", Detail: m.Dir + "/private/fs/image"}, true},
		"loop device of a copy":                      {Item{Kind: KindLoop, Name: "loop0", Detail: "/home/u" + m.Dir + "/image"}, false},
		"the probe in the folder":                    {of(m.Dir+"/plimsoll-probe", "/"), true},
		"a root in the folder":                       {of("/bin/x", m.Dir+"/root"), true},
		"an editor of the record":                    {of("/usr/bin/vim", "/"), false},
		"a shell in a cgroup of the ledger":          {in("cpu", "/plimsoll-ab12cd34-native"), true},
		"in one below":                               {in("cpu", "/plimsoll-ab12cd34-native/payload"), true},
		"in one of its name in another hierarchy":    {in("pids", "/plimsoll-ab12cd34-native"), false},
		"in one of its name elsewhere":               {in("cpu", "/user/plimsoll-ab12cd34-native"), false},
		"in one that is named alike":                 {in("cpu", "/plimsoll-ab12cd34-nativ"), false},
		"in a user's named like a container":         {in("cpu", "/plimsoll-ab12cd34-7"), false},
		"a monitor with the secret":                  {started("conmon", "A=b\x00"+m.Mark+"\x00"), true},
		"what only begins with it":                   {started("conmon", m.Mark+"s\x00"), false},
		"a monitor with another's secret":            {started("lxc-notes", "LC_PLIMSOLL=ab12cd34/other\x00"), false},
		"what users share, with the secret":          {started("catatonit", m.Mark+"\x00"), false},
		"a helper by its name":                       {started("exe", "HOME=/\x00"), false},
	} {
		if got := c.it.proved(m, m.Dir); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	all := []Item{{Kind: KindMount, Name: "/x (ext4 from y, id 1)"}, {Kind: KindCgroup, Name: "/sys/fs/cgroup/x"}, started("conmon", "A=\x00")}
	for _, it := range all {
		if it.proved(Marks{}, "") {
			t.Errorf("without marks: %+v", it)
		}
	}
}

// TestInherit: what a proved process has started is the run's; neither PID 1, nor
// this process, nor those that it descends from are.
func TestInherit(t *testing.T) {
	us := os.Getpid()
	process := func(pid, parent int, proved bool) Item {
		return Item{Kind: KindProcess, PID: pid, parent: parent, Proved: proved}
	}
	first, other := us+1, us+5
	r := Residue{process(1, 0, true), process(first, 1, true), process(us, first, false), process(us+2, us, false),
		process(other, 1, true), process(us+6, other, false), process(us+7, us+6, false), process(us+8, 1, false)}
	r.inherit()
	want := map[int]bool{1: false, first: false, us: false, us + 2: false, other: true, us + 6: true, us + 7: true, us + 8: false}
	for _, it := range r {
		if it.Proved != want[it.PID] {
			t.Errorf("process %d (ours is %d): %v, want %v", it.PID, us, it.Proved, want[it.PID])
		}
	}
}
