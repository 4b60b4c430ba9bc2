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
	"unsafe"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
)

// machineText describes what a run may change on the machine, a line for each fact, so
// that two moments can be compared as text. Processes, control groups and files that bear
// a name are the census's; see campaign.clean.
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
	addDevices(add)
	// Counters, dates and whether a bridge has a carrier change by themselves.
	passing := regexp.MustCompile(`\[\d+:\d+\]|^#.*| linkdown\b|packets \d+ bytes \d+`)
	for _, c := range []string{"iptables-save", "ip6tables-save", "nft list ruleset", "ip route show table all", "ip rule",
		"systemctl list-units --all --plain --no-legend --full plimsoll*",
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

// changedText lists what is in one text and not in the other, as a difference shows it.
func changedText(before, after []string) (changed []string) {
	for _, l := range before {
		if _, is := slices.BinarySearch(after, l); !is {
			changed = append(changed, "- "+l)
		}
	}
	for _, l := range after {
		if _, is := slices.BinarySearch(before, l); !is {
			changed = append(changed, "+ "+l)
		}
	}
	return changed
}

func TestMachineTextSeesChanges(t *testing.T) {
	if testing.Short() {
		t.Skip("reads all of this machine's settings: left out with -short")
	}
	before := machineText(t)
	for _, want := range []string{"mount ", "link lo ", "setting /proc/sys/kernel/ostype = Linux", "device /dev/null 0:0 "} {
		if !slices.ContainsFunc(before, func(l string) bool { return strings.HasPrefix(l, want) }) {
			t.Errorf("nothing begins with %q", want)
		}
	}
	if got := changedText([]string{"a", "b"}, []string{"b", "c"}); !slices.Equal(got, []string{"- a", "+ c"}) {
		t.Errorf("%q", got)
	}
}
