//go:build linux

package host

import "testing"

// TestProved: what may be taken away of a run, and what only looks like it.
func TestProved(t *testing.T) {
	const id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	m := Marks{RunID: "ab12cd34", Dir: "/var/lib/plimsoll/runs/ab12cd34",
		Names:   []string{"plimsoll-ab12cd34-7", id, "short"},
		Paths:   []string{"/sys/fs/cgroup/cpu/plimsoll-ab12cd34-native", "/somewhere/mounted", "plmab12cd34"},
		Helpers: []string{"conmon", "exe", "plimsoll-probe"}}
	process := func(comm, cgroup, exe string, args ...string) Item {
		return Item{Kind: KindProcess, comm: comm, cgroup: cgroup, exe: exe, root: "/", args: args}
	}
	for name, c := range map[string]struct {
		it   Item
		want bool
	}{
		"mount in the folder":             {Item{Kind: KindMount, Point: m.Dir + "/x", Name: m.Dir + "/x (overlay from overlay, id 5)"}, true},
		"mount in a folder named alike":   {Item{Kind: KindMount, Point: m.Dir + "x/y", Name: m.Dir + "x/y (overlay from overlay, id 5)"}, false},
		"mount of the ledger":             {Item{Kind: KindMount, Point: "/somewhere/mounted", Name: "/somewhere/mounted (tmpfs from tmpfs, id 5)"}, true},
		"a user's mount with our words":   {Item{Kind: KindMount, Point: "/home/u/plimsoll-ab12cd34", Name: "/home/u/plimsoll-ab12cd34 (ext4 from /dev/vdb, id 5)"}, false},
		"a user's mount of our folder":    {Item{Kind: KindMount, Point: "/mnt", Name: "/mnt (ext4 from " + m.Dir + ", id 5)"}, false},
		"a bundle of a container":         {Item{Kind: KindMount, Point: "/run/containerd/x/plimsoll-ab12cd34-7/rootfs", Name: "/run/containerd/x/plimsoll-ab12cd34-7/rootfs (overlay from overlay, id 5)"}, true},
		"cgroup of the ledger":            {Item{Kind: KindCgroup, Name: "/sys/fs/cgroup/cpu/plimsoll-ab12cd34-native"}, true},
		"below it":                        {Item{Kind: KindCgroup, Name: "/sys/fs/cgroup/cpu/plimsoll-ab12cd34-native/payload"}, true},
		"another of the run's name":       {Item{Kind: KindCgroup, Name: "/sys/fs/cgroup/cpu/plimsoll-ab12cd34-mine"}, false},
		"cgroup of a container":           {Item{Kind: KindCgroup, Name: "/sys/fs/cgroup/cpu/lxc.payload.plimsoll-ab12cd34-7"}, true},
		"of a container of longer name":   {Item{Kind: KindCgroup, Name: "/sys/fs/cgroup/cpu/plimsoll-ab12cd34-77"}, false},
		"of one that has ours in it":      {Item{Kind: KindCgroup, Name: "/sys/fs/cgroup/cpu/my-plimsoll-ab12cd34-7"}, false},
		"scope of an id":                  {Item{Kind: KindCgroup, Name: "/sys/fs/cgroup/machine.slice/libpod-" + id + ".scope"}, true},
		"short names prove nothing":       {Item{Kind: KindCgroup, Name: "/sys/fs/cgroup/cpu/short"}, false},
		"link of the ledger":              {Item{Kind: KindLink, Name: "plmab12cd34"}, true},
		"a link of the same prefix":       {Item{Kind: KindLink, Name: "plmab12cd"}, false},
		"loop device in the folder":       {Item{Kind: KindLoop, Name: "loop0", Detail: m.Dir + "/private/fs/image"}, true},
		"loop device of a copy":           {Item{Kind: KindLoop, Name: "loop0", Detail: "/home/u" + m.Dir + "/image"}, false},
		"the probe in the folder":         {process("plimsoll-probe", "", m.Dir+"/plimsoll-probe"), true},
		"a shell in a cgroup of ours":     {process("sh", "/plimsoll-ab12cd34-native", "/bin/sh"), true},
		"in one below":                    {process("sh", "/plimsoll-ab12cd34-native/payload", "/bin/sh"), true},
		"in one that is named alike":      {process("sh", "/plimsoll-ab12cd34-nativ", "/bin/sh"), false},
		"an editor of the record":         {process("vim", "", "/usr/bin/vim", "vim", "plimsoll-ab12cd34-7/run.json"), false},
		"a monitor of ours":               {process("conmon", "", "/usr/bin/conmon", "conmon", "-n", "plimsoll-ab12cd34-7"), true},
		"a monitor of somebody's":         {process("conmon", "", "/usr/bin/conmon", "conmon", "-n", "plimsoll-ab12cd34-x"), false},
		"a monitor that mentions us":      {process("conmon", "", "/usr/bin/conmon", "conmon", "-n", "web", "-l", "/x/plimsoll-ab12cd34-7.log"), false},
		"a shell with a container's name": {process("sh", "", "/bin/sh", "sh", "plimsoll-ab12cd34-7"), false},
		"a program that is called exe":    {process("exe", "", "/usr/bin/exe", "exe", "--about=plimsoll ab12cd34"), false},
	} {
		if got := c.it.proved(m, m.Dir); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	all := []Item{{Kind: KindMount, Name: "/x (ext4 from y, id 1)"}, {Kind: KindCgroup, Name: "/sys/fs/cgroup/x"}, process("conmon", "/", "/", "conmon", "")}
	for _, it := range all {
		if it.proved(Marks{}, "") {
			t.Errorf("without marks: %+v", it)
		}
	}
}
