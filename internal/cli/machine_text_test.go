package cli

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/host"
)

// machineText describes what a run may change on the machine, a line for each fact, so
// that two moments can be compared as text. Processes come and go, and are the census's;
// see campaign.clean.
func machineText(t *testing.T) []string {
	t.Helper()
	var lines []string
	add := func(kind, format string, args ...any) {
		lines = append(lines, kind+" "+fmt.Sprintf(format, args...))
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	for l := range strings.Lines(string(mounts)) {
		f := strings.Fields(l) // the ids and the device's number are drawn anew for each mount
		add("mount", "%s", strings.Join(f[3:], " "))
	}
	links, err := net.Interfaces()
	require.NoError(t, err)
	for _, l := range links {
		addresses, _ := l.Addrs() // of a link that has gone
		add("link", "%s mtu %d %v", l.Name, l.MTU, addresses)
	}
	addSettings(add)
	for path, text := range settingsNow() {
		add("setting", "%s = %s", path, text)
	}
	addDevices(add)
	addHeld(t, add)
	addPlaces(add)
	// Counters, dates and whether a bridge has a carrier change by themselves.
	passing := regexp.MustCompile(`\[\d+:\d+\]|^#.*| linkdown\b|packets \d+ bytes \d+`)
	for _, c := range []string{"iptables-save", "ip6tables-save", "nft list ruleset", "ip route show table all", "ip rule",
		"cat /sys/kernel/security/apparmor/profiles", "systemctl list-units --all --plain --no-legend --full plimsoll*",
		"unshare -m sh -c 'mount -t tracefs none /mnt && cd /mnt && ls instances && cat current_tracer set_event kprobe_events uprobe_events 2>/dev/null'"} {
		out, err := exec.Command("sh", "-c", c).Output()
		if err != nil && len(out) == 0 {
			continue // it is not installed, or there is no such table here: neither before nor after
		}
		for l := range strings.Lines(string(out)) {
			if l = strings.TrimSpace(passing.ReplaceAllString(strings.TrimRight(l, "\n"), "")); l != "" {
				add(strings.Fields(c)[0], "%s", l)
			}
		}
	}
	for _, id := range bpfPrograms() {
		add("bpf program", "%d", id)
	}
	slices.Sort(lines)
	return lines
}

// counters are files below /proc/sys that change by themselves.
var counters = regexp.MustCompile(`/random/|/fs/quota/|-nr$|-state$|ns_last_pid|/pty/nr|conntrack_count|hung_task_detect_count|/printk|binfmt_misc|nr_hugepages|/neigh/|/conf/veth|/conf/(vb|ve|pl)`)

func addSettings(add func(kind, format string, args ...any)) {
	_ = filepath.WalkDir("/proc/sys", func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || counters.MatchString(path) {
			return nil // it has gone meanwhile, or is for nobody to read
		}
		info, err := e.Info()
		if err != nil || info.Mode()&0o444 == 0 {
			return nil
		}
		if text, err := os.ReadFile(path); err == nil {
			add("setting", "%s = %s", path, strings.Join(strings.Fields(string(text)), " "))
		}
		return nil
	})
}

func addDevices(add func(kind, format string, args ...any)) {
	_ = filepath.WalkDir("/dev", func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == "/dev/pts" || path == "/dev/shm" {
			return fs.SkipDir
		}
		var st unix.Stat_t
		if e.Type()&fs.ModeDevice != 0 && unix.Lstat(path, &st) == nil {
			add("device", "%s %d:%d %o", path, st.Uid, st.Gid, st.Mode)
		}
		return nil
	})
}

// addHeld adds the control groups of all hierarchies, the network namespaces that files
// hold, and the loop devices in use.
func addHeld(t *testing.T, add func(kind, format string, args ...any)) {
	t.Helper()
	now, err := host.Machine{}.Census(t.Context())
	require.NoError(t, err)
	for _, it := range now.Since(&host.Census{}) {
		switch {
		case it.Kind == host.KindNetNS && !strings.HasPrefix(it.Name, "/"): // a process's
		case it.Kind == host.KindCgroup, it.Kind == host.KindLoop, it.Kind == host.KindNetNS:
			add(string(it.Kind), "%s %s", it.Name, it.Detail)
		}
	}
}

// places are the directories in which engines, and Plimsoll itself, keep what is to go
// again, each with the depth to which its names are compared.
var places = map[string]int{
	"/tmp": 1, "/var/tmp": 1, "/dev/shm": 1, "/run": 1, "/run/user": 4, "/run/containerd": 3, "/run/cni": 3, "/run/containers": 3, "/run/crun": 1, "/run/docker": 3, "/run/libpod": 2, "/run/lock": 1, "/run/lxc": 2, "/run/plimsoll": 2, "/run/runc": 1, "/run/runsc": 1, "/run/systemd": 3, "/var/lib": 1, "/var/lib/cni": 3, "/var/lib/lxc": 1, "/var/lib/machines": 1,
	"/var/lib/containers": 4, "/var/lib/docker": 3, "/var/lib/containerd": 2, "/var/lib/lxd": 2, "/var/lib/incus": 2,
	"/var/lib/plimsoll-lab": 4, "/var/lib/plimsoll-lab/home/.local/share/containers": 4, "/run/plimsoll-lab/docker": 3, "/run/plimsoll-lab/containerd": 3, "/run/plimsoll-lab/xdg": 3,
}

// passingPlace is a path whose presence says nothing about a run.
var passingPlace = regexp.MustCompile(strings.Join([]string{
	`^/(var/)?tmp/(Test|go-|canary-|bash_)`,                      // the test's own directories, the go command's, and canaries
	`^/var/lib/cni/networks/[^/]+/(last_reserved_ip\.\d+|lock)$`, // a plug-in's own, from its first container on
	`/docker/(exec/)?netns/[0-9a-f]{12}$`,                        // Docker removes them once a minute
	`/(lxd|incus)/logs/`,                                         // LXD and Incus remove them two days after the container
	`/incus/run/`,                                                // Incus leaves each container's lxc.conf there, whoever removes it
	`/(lxd|incus)/database/global/`,                              // their database, in pieces of its own
	`^/run/plimsoll/queue/`,                                      // of one who waits; a killed one's goes when the next comes
	`/lib/plimsoll-lab/[^/]*rootfs/|/usr/`,                       // nothing is kept there
}, "|"))

func addPlaces(add func(kind, format string, args ...any)) {
	for top, deep := range places {
		_ = filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil // it is not there, or has gone meanwhile
			case passingPlace.MatchString(path) && path != top:
				return skip(e)
			case path != top:
				add("file", "%s", path)
			}
			if e.IsDir() && path != top && strings.Count(path, "/")-strings.Count(top, "/") >= deep {
				return fs.SkipDir
			}
			return nil
		})
	}
}

func skip(e fs.DirEntry) error {
	if e.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// bpfPrograms are the ids of the programs that the kernel holds; source: bpf(2).
func bpfPrograms() (ids []uint32) {
	const progGetNextID = 11
	var attr struct{ start, next, flags uint32 }
	for {
		if _, _, errno := unix.Syscall(unix.SYS_BPF, progGetNextID, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr)); errno != 0 {
			return ids
		}
		ids = append(ids, attr.next)
		attr.start = attr.next
	}
}

// stillChanged lists what of the machine is not as it was before. A daemon whose client was
// killed in the middle of a call takes back by itself what it had begun to make:
// containerd a pod's network namespace.
func stillChanged(t *testing.T, before []string) []string {
	t.Helper()
	changed := changedText(before, machineText(t))
	for patience := time.Now().Add(10 * time.Second); len(changed) > 0 && time.Now().Before(patience); changed = changedText(before, machineText(t)) {
		time.Sleep(200 * time.Millisecond)
	}
	return changed
}

// changedText lists what is in one sorted text and not in the other, as a difference shows
// it. A line that is there twice counts twice: one mount may hide another.
func changedText(before, after []string) (changed []string) {
	for len(before) > 0 || len(after) > 0 {
		switch {
		case len(after) == 0 || len(before) > 0 && before[0] < after[0]:
			changed, before = append(changed, "- "+before[0]), before[1:]
		case len(before) == 0 || after[0] < before[0]:
			changed, after = append(changed, "+ "+after[0]), after[1:]
		default:
			before, after = before[1:], after[1:]
		}
	}
	return changed
}

func TestMachineTextSeesChanges(t *testing.T) {
	if testing.Short() {
		t.Skip("reads all of this machine's settings: left out with -short")
	}
	before := machineText(t)
	for _, want := range []string{"mount ", "link lo ", "setting /proc/sys/kernel/ostype = Linux", "device /dev/null 0:0 ", "file /run/"} {
		if !slices.ContainsFunc(before, func(l string) bool { return strings.HasPrefix(l, want) }) {
			t.Errorf("nothing begins with %q", want)
		}
	}
	if got := changedText([]string{"a", "b"}, []string{"b", "b", "c"}); !slices.Equal(got, []string{"- a", "+ b", "+ c"}) {
		t.Errorf("%q", got)
	}
}
