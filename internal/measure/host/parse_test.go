//go:build linux

package host

import (
	"reflect"
	"strings"
	"testing"

	"plimsoll/internal/measure/host/proc"
)

func TestCountList(t *testing.T) {
	for in, want := range map[string]int{"0": 1, "0-3": 4, "0-3,8,10-11\n": 7, "": 0} {
		if got, err := countList(in); err != nil || got != want {
			t.Errorf("%q: %d, %v", in, got, err)
		}
	}
	for _, in := range []string{"a", "3-1", "-1", "1,,2", "0-99999999999"} {
		if n, err := countList(in); err == nil {
			t.Errorf("%q gave %d", in, n)
		}
	}
}

func TestMissingCaps(t *testing.T) {
	got := missingCaps((1<<41-1)&^(1<<24|1<<21), 41)
	if want := []string{"cap_sys_admin", "cap_sys_resource", "cap_41"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
	if got := missingCaps(1<<41-1, 40); got != nil {
		t.Errorf("got %q", got)
	}
}

func TestCgroupLayout(t *testing.T) {
	v1 := &proc.Mount{Mountpoint: "/sys/fs/cgroup/cpu", FSType: "cgroup", VFSOptions: "rw,cpu"}
	named := &proc.Mount{Mountpoint: "/sys/fs/cgroup/systemd", FSType: "cgroup", VFSOptions: "rw,xattr,name=systemd"}
	unified := &proc.Mount{Mountpoint: "/sys/fs/cgroup/unified", FSType: "cgroup2"}
	v2 := &proc.Mount{Mountpoint: "/sys/fs/cgroup", FSType: "cgroup2"}
	for want, mounts := range map[string][]*proc.Mount{
		"v1": {v1, named}, "v2": {v2, {Mountpoint: "/tmp/x", FSType: "cgroup2"}}, "hybrid": {v1, named, unified}, "": {{FSType: "tmpfs"}},
	} {
		if c := cgroupLayout(mounts); c.Mode != want {
			t.Errorf("%q, want %q", c.Mode, want)
		} else if want == "v2" && c.V2 != "/sys/fs/cgroup" {
			t.Errorf("the unified hierarchy is at %q", c.V2)
		}
	}
	// A named hierarchy has no controllers: systemd's beside cgroup2 is v2.
	if c := cgroupLayout([]*proc.Mount{named, unified}); c.Mode != "v2" {
		t.Errorf("%q", c.Mode)
	}
}

func TestFieldsOfKernelFiles(t *testing.T) {
	psi := []byte("some avg10=0.00 avg60=0.00 avg300=0.00 total=123\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n")
	if n, ok := field(psi, "total="); !ok || n != 123 {
		t.Errorf("%d %v", n, ok)
	}
	if n, ok := field([]byte("xnr_throttled 9\nnr_throttled 3\n"), "nr_throttled "); !ok || n != 3 {
		t.Errorf("%d %v", n, ok)
	}
	for _, bad := range []string{"", "total=", "total=x", "subtotal=1", "total=99999999999999999999"} {
		if n, ok := field([]byte(bad), "total="); ok {
			t.Errorf("%q gave %d", bad, n)
		}
	}
	if c, ok := parseTicks([]byte("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1")); !ok || c != (cpuTicks{1, 2, 3, 4, 5, 6, 7, 8}) || c.busy() != 27 || c.total() != 36 {
		t.Errorf("%+v %v", c, ok)
	}
	if _, ok := parseTicks([]byte("cpu0 1 2 3 4 5 6 7 8")); ok {
		t.Error("one CPU's line was taken for the sum")
	}
	if n, ok := parseRunning([]byte("0.05 0.03 0.04 3/94 8077\n")); !ok || n != 3 {
		t.Errorf("%d %v", n, ok)
	}
	if _, ok := parseRunning([]byte("0.05 0.03 0.04\n")); ok {
		t.Error("a line without the count was taken")
	}
}

func TestLockHolder(t *testing.T) {
	const locks = "1: POSIX  ADVISORY  WRITE 1 08:01:42 0 EOF\n2: FLOCK  ADVISORY  WRITE 1234 08:01:42 0 EOF\n2: -> FLOCK  ADVISORY  WRITE 5 08:01:42 0 EOF\n"
	for inode, want := range map[uint64]int{42: 1234, 43: 0} {
		if pid, err := lockHolder(strings.NewReader(locks), 8, 1, inode); err != nil || pid != want {
			t.Errorf("inode %d: %d %v", inode, pid, err)
		}
	}
}

// No file of the kernel's, however odd, may end the program.
func FuzzParsers(f *testing.F) {
	f.Add("1 0 8:1 / / rw - ext4 /dev/sda rw\n")
	f.Add(`2 1 0:5 /sub /a\040b rw shared:1 - overlay \1 rw,lowerdir=/x`)
	f.Add("0::/user.slice\n1:cpu,cpuacct:/a\n")
	f.Add("42 (a) (b c) S 7 1 1 0 -1 4194560 1 2 3 4 11 22 0 0 20 0 1 0 9876 1 1 1")
	f.Add("0 0 0 0")
	f.Add("PRETTY_NAME=\"a \\\"b\"\nNAME='\n")
	f.Add("model name : x\nflags : hypervisor\n")
	f.Add("cpu  1 2 3 4 5 6 7 8 9 10\n")
	f.Add("0.05 0.03 0.04 3/94 8077\n")
	f.Add("some avg10=0.00 total=123\n")
	f.Add("2: FLOCK  ADVISORY  WRITE 1234 08:01:42 0 EOF\n")
	f.Add("monotonic 3600 0\n")
	f.Fuzz(func(t *testing.T, s string) {
		r := func() *strings.Reader { return strings.NewReader(s) }
		if l, err := proc.ParseMounts(s); err == nil {
			cgroupLayout(l)
			proc.On(l, "/a/b")
		}
		if groups, err := proc.ParseGroups(s); err == nil {
			for _, g := range groups {
				if !strings.HasPrefix(g.Path, "/") {
					t.Errorf("path %q is not absolute", g.Path)
				}
			}
		}
		if st, err := proc.ParseStat(s); err == nil && st.State == 0 {
			t.Error("no state")
		}
		if st, err := statusOf(map[string]string{"Uid": s, "CapEff": s, "Cpus_allowed_list": s}); err == nil && st.CPUs < 0 {
			t.Error("fewer than no CPUs")
		}
		_, _ = parseOSRelease(r())
		_, _ = parseCPUInfo(r())
		if pid, err := lockHolder(r(), 8, 1, 42); err == nil && pid < 0 {
			t.Errorf("process %d", pid)
		}
		if n, ok := field([]byte(s), "total="); ok && n < 0 {
			t.Errorf("a counter of %d", n)
		}
		parseTicks([]byte(s))
		if n, ok := parseRunning([]byte(s)); ok && n < 0 {
			t.Errorf("%d threads", n)
		}
		chosen(s)
		isolation(s)
		containerOf(known, s, func() string { return s })
		holdsPath(s, "/a")
	})
}
