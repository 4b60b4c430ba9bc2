//go:build linux

package host

import (
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

func TestFactsOfStoredMachines(t *testing.T) {
	for name, want := range map[string]record.Host{
		"debian12-vm-hybrid": {
			Name: "debian12-vm", Kernel: "6.18.44", OS: "Debian GNU/Linux 12 (bookworm)", Arch: "amd64", CPU: "AMD EPYC", CPUs: 2,
			Memory: 24684096 << 10, Cgroup: "hybrid", Virtual: "kvm", FileSystem: "ext4", Root: true,
		},
		"ubuntu2404-metal-v2": {
			Name: "metal", Kernel: "6.8.0-45-generic", OS: "Ubuntu 24.04.1 LTS", Arch: "amd64",
			CPU: "Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz", CPUs: 4, Memory: 32768000 << 10, Cgroup: "v2", FileSystem: "xfs",
		},
		"arm64-v1-container": {
			Name: "box", Kernel: "5.10.0", OS: "Alpine Linux 3.20", Arch: runtime.GOARCH,
			CPU: "ARM part 0xd0c variant 0x3 revision 1", CPUs: 1, Memory: 4000000 << 10, Cgroup: "v1",
			Virtual: "kvm, container (podman)", FileSystem: "overlay", Root: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := stored(t, name).Facts("/home/user/plimsoll")
			if err != nil {
				t.Error(err)
			}
			more := got.More
			got.More = nil
			if !reflect.DeepEqual(got, want) {
				t.Errorf("\n got %+v\nwant %+v", got, want)
			}
			for k, v := range wantMore[name] {
				if more[k] != v {
					t.Errorf("%s: got %q, want %q", k, more[k], v)
				}
			}
		})
	}
}

var wantMore = map[string]map[string]string{
	"debian12-vm-hybrid": {
		"capabilities_missing":  "cap_sys_resource",
		"cgroup_controllers_v1": "blkio cpu cpuacct cpuset devices freezer hugetlb memory pids",
		"clocksource":           "tsc", "thp": "madvise", "smt": "notsupported", "governor": "",
		"mitigations": "on: spec_rstack_overflow spec_store_bypass spectre_v1 spectre_v2",
	},
	"ubuntu2404-metal-v2": {
		"cgroup_controllers_v2": "cpuset cpu io memory hugetlb pids rdma misc", "capabilities_missing": "",
		"governor": "powersave", "turbo": "on", "smt": "on", "clocksource": "hpet", "thp": "always", "cpus_online": "8",
		"mitigations": "on: meltdown; vulnerable: mds", "swap_bytes": "8589930496",
		"kernel_cmdline_isolation": "isolcpus=6,7 mitigations=off", "filesystem_source": "/dev/nvme1n1",
	},
	"arm64-v1-container": {"cgroup_controllers_v1": "cpu cpuacct memory", "cgroup_controllers_v2": ""},
}

// What the real machine says is compared with what other ways of asking give.
func TestFactsOfThisMachine(t *testing.T) {
	got, err := Machine{}.Facts(t.TempDir())
	if err != nil {
		t.Error(err)
	}
	var u unix.Utsname
	require.NoError(t, unix.Uname(&u))
	if want := unix.ByteSliceToString(u.Release[:]); got.Kernel != want {
		t.Errorf("kernel %q, uname says %q", got.Kernel, want)
	}
	if got.Arch != runtime.GOARCH || got.CPU == "" || got.OS == "" {
		t.Errorf("odd facts %+v", got)
	}
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil || got.CPUs != set.Count() {
		t.Errorf("%d CPUs, the affinity has %d (%v)", got.CPUs, set.Count(), err)
	}
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil || got.Memory != int64(info.Totalram)*int64(info.Unit) {
		t.Errorf("%d bytes of memory, sysinfo says %d (%v)", got.Memory, int64(info.Totalram)*int64(info.Unit), err)
	}
	if got.Root != (os.Geteuid() == 0) {
		t.Errorf("root %v as user %d", got.Root, os.Geteuid())
	}
	var st unix.Statfs_t
	if err := unix.Statfs("/sys/fs/cgroup", &st); err == nil {
		if isV2 := st.Type == unix.CGROUP2_SUPER_MAGIC; isV2 != (got.Cgroup == "v2") {
			t.Errorf("cgroup %q, and /sys/fs/cgroup has magic %#x", got.Cgroup, st.Type)
		}
	}
	if out, err := exec.Command("stat", "-f", "-c", "%T", t.TempDir()).Output(); err == nil {
		// stat says "ext2/ext3" for the whole family.
		if fs := strings.TrimSpace(string(out)); !strings.HasPrefix(fs, "ext2") && !strings.HasPrefix(fs, got.FileSystem) && !strings.HasPrefix(got.FileSystem, fs) {
			t.Errorf("file system %q, stat says %q", got.FileSystem, fs)
		}
	}
}

func TestFactsOfAnEmptyMachine(t *testing.T) {
	got, err := Machine{Root: t.TempDir()}.Facts("/x")
	if err == nil || got.Root || got.CPUs != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
}

// A disk made from a container image still has the mark of one.
func TestAMarkOnTheDiskIsNoContainer(t *testing.T) {
	m := stored(t, "debian12-vm-hybrid")
	m.set(t, "/.dockerenv", "")
	if got := m.container(); got != "docker" {
		t.Errorf("where the namespaces can't be seen, the mark counts: %q", got)
	}
	require.NoError(t, os.MkdirAll(m.path("/proc/self/ns"), 0o755))
	for kind, ns := range initialNamespaces {
		require.NoError(t, os.Symlink(ns, m.path("/proc/self/ns/"+kind)))
	}
	if got := m.container(); got != "" {
		t.Errorf("in the first namespaces: %q", got)
	}
	require.NoError(t, os.Remove(m.path("/proc/self/ns/uts")))
	require.NoError(t, os.Symlink("uts:[4026532999]", m.path("/proc/self/ns/uts")))
	if got := m.container(); got != "docker" {
		t.Errorf("in a namespace of its own: %q", got)
	}
}

// A container of one program has no os-release file: it is still a machine to measure on.
func TestFactsWithoutOSRelease(t *testing.T) {
	h, err := Machine{Root: t.TempDir()}.Facts("/")
	if h.OS != "Linux" || err != nil && strings.Contains(err.Error(), "os-release") {
		t.Errorf("OS %q, %v", h.OS, err)
	}
}

func TestIdentity(t *testing.T) {
	h, _ := Machine{}.Facts(t.TempDir())
	if h.Boot == "" {
		t.Error("this kernel has no boot")
	}
}
