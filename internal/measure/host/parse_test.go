//go:build linux

package host

import (
	"reflect"
	"strings"
	"testing"
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

func TestMountinfo(t *testing.T) {
	l, err := parseMountinfo(strings.NewReader("" +
		"1 0 8:1 / / rw - ext4 /dev/sda rw\n" +
		`2 1 0:5 /sub /a\040b rw shared:1 master:2 - overlay ov\134er rw,lowerdir=/x` + "\n" +
		"3 1 0:6 / /a rw - tmpfs none rw\n" +
		"4 1 0:7 / /a rw - xfs none rw\n" +
		"5 1 0:8 / /empty rw - fuse  rw\n"))
	if err != nil {
		t.Fatal(err)
	}
	if m := l[1]; m.Point != "/a b" || m.Root != "/sub" || m.Source != `ov\er` || m.Options != "rw,lowerdir=/x" {
		t.Errorf("%+v", m)
	}
	for p, want := range map[string]string{"/": "1", "/ab": "1", "/a b/c": "2", "/a": "4", "/a/x": "4"} {
		if m, ok := mountOf(l, p); !ok || m.ID != want {
			t.Errorf("%s lies on %+v", p, m)
		}
	}
	for _, bad := range []string{"x", "1 2 3 4 5 6 7", "1 2 3 4 5 - a b"} {
		if _, err := parseMountinfo(strings.NewReader(bad)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestCgroupLayout(t *testing.T) {
	v1 := Mount{Point: "/sys/fs/cgroup/cpu", Type: "cgroup", Options: "rw,cpu"}
	named := Mount{Point: "/sys/fs/cgroup/systemd", Type: "cgroup", Options: "rw,xattr,name=systemd"}
	unified := Mount{Point: "/sys/fs/cgroup/unified", Type: "cgroup2"}
	v2 := Mount{Point: "/sys/fs/cgroup", Type: "cgroup2"}
	for want, mounts := range map[string][]Mount{
		"v1": {v1, named}, "v2": {v2, {Point: "/tmp/x", Type: "cgroup2"}}, "hybrid": {v1, named, unified}, "": {{Type: "tmpfs"}},
	} {
		if c := cgroupLayout(mounts); c.Mode != want {
			t.Errorf("%q, want %q", c.Mode, want)
		} else if want == "v2" && c.V2 != "/sys/fs/cgroup" {
			t.Errorf("the unified hierarchy is at %q", c.V2)
		}
	}
	// A named hierarchy has no controllers: systemd's beside cgroup2 is v2.
	if c := cgroupLayout([]Mount{named, unified}); c.Mode != "v2" {
		t.Errorf("%q", c.Mode)
	}
}

func TestPidStat(t *testing.T) {
	st, err := parsePidStat("42 (a) (b c) S 7 1 1 0 -1 4194560 1 2 3 4 11 22 0 0 20 0 1 0 9876 1 1 1")
	if want := (pidStat{42, "a) (b c", 'S', 7, 4194560, 33, 9876}); err != nil || st != want {
		t.Errorf("%+v %v", st, err)
	}
	for _, bad := range []string{"", "1 (x", "x (y) S 1 2 3", ") 1 ("} {
		if st, err := parsePidStat(bad); err == nil {
			t.Errorf("%q gave %+v", bad, st)
		}
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
	if c, ok := parseTicks([]byte("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1")); !ok || c != (cpuTicks{1, 2, 3, 4, 5, 6, 7, 8}) || c.Busy() != 27 || c.Total() != 36 {
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
	f.Add("Uid:\t0\t0\t0\t0\nCapEff:\t01ff\nCpus_allowed_list:\t0-3,5\n")
	f.Add("PRETTY_NAME=\"a \\\"b\"\nNAME='\n")
	f.Add("model name : x\nflags : hypervisor\n")
	f.Add("cpu  1 2 3 4 5 6 7 8 9 10\n")
	f.Add("0.05 0.03 0.04 3/94 8077\n")
	f.Add("Limit                     Soft Limit           Hard Limit           Units\nMax open files            256                  unlimited            files\n")
	f.Add("some avg10=0.00 total=123\n")
	f.Add("2: FLOCK  ADVISORY  WRITE 1234 08:01:42 0 EOF\n")
	f.Add("monotonic 3600 0\n")
	f.Fuzz(func(t *testing.T, s string) {
		r := func() *strings.Reader { return strings.NewReader(s) }
		if l, err := parseMountinfo(r()); err == nil {
			cgroupLayout(l)
			mountOf(l, "/a/b")
		}
		if v, err := parseSelfCgroup(r()); err == nil {
			for _, p := range v {
				if !strings.HasPrefix(p, "/") {
					t.Errorf("path %q is not absolute", p)
				}
			}
		}
		if st, err := parsePidStat(s); err == nil && st.State == 0 {
			t.Error("no state")
		}
		if st, err := parseStatus(r()); err == nil && st.CPUs < 0 {
			t.Error("fewer than no CPUs")
		}
		_, _ = parseOSRelease(r())
		_, _ = parseCPUInfo(r())
		_, _ = parseLimits(r())
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
		parseCmdline([]byte(s))
		holdsPath(s, "/a")
	})
}
