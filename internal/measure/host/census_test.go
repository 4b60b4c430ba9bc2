//go:build linux

package host

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/host/proc"

	"golang.org/x/sys/unix"
)

func census(t testing.TB, m Machine) *Census {
	t.Helper()
	c, err := m.Census(t.Context())
	require.NoError(t, err)
	return c
}

func gone(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error("taking away what the test made: ", err)
	}
}

func stat(pid int, comm string, flags int) string {
	return fmt.Sprintf("%d (%s) S 1 1 1 0 -1 %d 1 2 3 4 11 22 0 0 20 0 1 0 %d 1 1 1", pid, comm, flags, 1000+pid)
}

func TestResidueOnAStoredMachine(t *testing.T) {
	m := stored(t, "ubuntu2404-metal-v2")
	m.set(t, "/proc/10/stat", stat(10, "old", 0))
	m.set(t, "/proc/11/stat", stat(11, "kworker", pfKthread))
	m.set(t, "/sys/class/net/lo/mtu", "1")
	m.set(t, "/sys/block/loop0/size", "0")
	before := census(t, m)
	if n := len(before.items[KindProcess]); n != 1 {
		t.Errorf("%d processes", n)
	}
	if n := len(before.items[KindCgroup]); n != 6 {
		t.Errorf("%d cgroups", n)
	}

	m.set(t, "/proc/20/stat", stat(20, "conmon", 0))
	m.set(t, "/proc/20/cmdline", "conmon\x00-n\x00plimsoll-ab12cd34-7\x00")
	m.set(t, "/proc/20/cgroup", "0::/\n")
	m.set(t, "/proc/21/stat", stat(21, "vim", 0))
	m.set(t, "/proc/21/cmdline", "vim\x00plimsoll-ab12cd34/run.json\x00")
	m.set(t, "/proc/22/stat", stat(22, "sleep", 0))
	m.set(t, "/proc/22/cmdline", "sleep\x009\x00")
	m.set(t, "/proc/22/cgroup", "0::/plimsoll-ab12cd34-8\n")
	m.set(t, "/proc/23/stat", stat(23, "other", 0))
	m.set(t, "/proc/24/stat", stat(24, "kthread", pfKthread))
	m.set(t, "/sys/class/net/veth1/mtu", "1")
	m.set(t, "/sys/block/loop0/loop/backing_file", "/var/lib/plimsoll/run/disk.img\n")
	m.set(t, "/sys/fs/cgroup/plimsoll-ab12cd34/x/cgroup.procs", "")
	m.set(t, "/run/netns/other", "")
	overwrite(t, m.path("/proc/self/mountinfo"), m.text("/proc/self/mountinfo")+
		"\n50 30 0:60 / /var/lib/plimsoll/run/merged rw - overlay overlay rw\n51 30 0:61 / /var/lib/plimsoll/runner rw - tmpfs tmpfs rw\n")

	r := census(t, m).Since(before)
	ours := r.Ours(Marks{RunID: "ab12cd34", Dir: "/var/lib/plimsoll/run/", Helpers: []string{"conmon"}})
	all := make([]string, 0, len(r))
	mine, certain := make([]string, 0, len(ours)), make([]string, 0, len(ours))
	for _, it := range r {
		all = append(all, it.String())
	}
	for _, it := range ours {
		mine = append(mine, it.String())
		if it.Certain {
			certain = append(certain, string(it.Kind)+" "+it.Name)
		}
	}
	wantMine := []string{
		"cgroup /sys/fs/cgroup/plimsoll-ab12cd34", "cgroup /sys/fs/cgroup/plimsoll-ab12cd34/x",
		"loop loop0: /var/lib/plimsoll/run/disk.img",
		"mount /var/lib/plimsoll/run/merged (overlay from overlay, id 50)",
		"process 20 (conmon): conmon -n plimsoll-ab12cd34-7",
		"process 21 (vim): vim plimsoll-ab12cd34/run.json",
		"process 22 (sleep): sleep 9 in cgroup /plimsoll-ab12cd34-8",
	}
	if !slices.Equal(mine, wantMine) {
		t.Errorf("ours:\n got %q\nwant %q", mine, wantMine)
	}
	for _, it := range []string{"link veth1", "mount /var/lib/plimsoll/runner (tmpfs from tmpfs, id 51)", "netns /run/netns/other", "process 23 (other)"} {
		if !slices.Contains(all, it) || slices.Contains(mine, it) {
			t.Errorf("%q is to be new and not ours, in %q", it, all)
		}
	}
	if len(all) != len(wantMine)+4 {
		t.Errorf("new: %q", all)
	}
	if slices.Contains(certain, "process 21 (vim)") || !slices.Contains(certain, "process 20 (conmon)") || !slices.Contains(certain, "process 22 (sleep)") || len(certain) != len(mine)-1 {
		t.Errorf("certain: %q", certain)
	}
	if it := r.Ours(Marks{}); len(it) != 0 {
		t.Errorf("without marks: %q", it)
	}
	if it := r.Ours(Marks{Names: []string{"backing", "other"}}); len(it) != 0 {
		t.Errorf("a short name was looked for: %q", it)
	}
	if it := census(t, m).Since(&Census{}); len(it) < len(all) {
		t.Errorf("since nothing there are %d items", len(it))
	}
}

func TestHoldsPath(t *testing.T) {
	for text, want := range map[string]bool{
		"/run/x": true, "/run/x/y": true, "a /run/x,b": true, "lowerdir=/run/x:/b": true, "/run/xy": false, "/run/xy /run/x": true, "": false,
	} {
		if got := holdsPath(text, "/run/x"); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// What is really made on this machine is found, and not found any more once it
// is gone.
func TestCensusOfThisMachine(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to make a mount, a control group and a link")
	}
	run := "t" + strconv.Itoa(os.Getpid())
	dir := t.TempDir()
	before := census(t, Machine{})
	if len(before.items[KindProcess]) == 0 || len(before.items[KindMount]) == 0 || len(before.items[KindLink]) == 0 || len(before.items[KindNetNS]) == 0 {
		t.Errorf("this machine has nothing: %v", before.Problems)
	}
	want := []string{}
	var undo []func()
	defer func() {
		for _, f := range slices.Backward(undo) {
			f()
		}
	}()

	mnt := filepath.Join(dir, "mnt")
	require.NoError(t, os.Mkdir(mnt, 0o755))
	if err := unix.Mount("tmpfs", mnt, "tmpfs", 0, "size=4k"); err != nil {
		t.Log("no mount is tried: ", err)
	} else {
		undo = append(undo, func() { gone(t, unix.Unmount(mnt, 0)) })
		want = append(want, "mount "+mnt)
	}

	mounts, err := proc.Here.Mounts(proc.Self)
	require.NoError(t, err)
	layout := cgroupLayout(mounts)
	top := layout.V2
	if p := layout.V1["pids"]; p != "" {
		top = p
	}
	cg := filepath.Join(top, "plimsoll-"+run, "deep", "er")
	if top == "" {
		t.Log("no control group is tried: none is mounted")
	} else if err := os.MkdirAll(cg, 0o755); err != nil {
		t.Log("no control group is tried: ", err)
	} else {
		undo = append(undo, func() {
			for d := cg; d != top; d = filepath.Dir(d) {
				gone(t, os.Remove(d))
			}
		})
		want = append(want, "cgroup "+cg, "cgroup "+filepath.Dir(cg))
	}

	cmd := exec.Command("sleep", "60")
	cmd.Args[0] = "plimsoll-" + run
	require.NoError(t, cmd.Start())
	undo = append(undo, func() {
		gone(t, cmd.Process.Kill())
		_ = cmd.Wait() // it was killed, and says so
	})
	want = append(want, fmt.Sprintf("process %d", cmd.Process.Pid))

	r := census(t, Machine{}).Since(before)
	ours := r.Ours(Marks{RunID: run, Dir: dir})
	for _, w := range want {
		if !slices.ContainsFunc(ours, func(it Item) bool { return strings.HasPrefix(it.String(), w) }) {
			t.Errorf("%q is not in %v", w, ours)
		}
	}
	for _, f := range slices.Backward(undo) {
		f()
	}
	undo = nil
	if left := census(t, Machine{}).Since(before).Ours(Marks{RunID: run, Dir: dir}); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestCensusEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Machine{}).Census(ctx); err == nil {
		t.Error("a census was taken for a context that had ended")
	}
}

// A machine of a server's size: 3000 processes; control groups would need
// directories whose link count only cgroupfs keeps.
func BenchmarkCensus(b *testing.B) {
	b.Run("this machine", func(b *testing.B) {
		for b.Loop() {
			c := census(b, Machine{})
			b.ReportMetric(float64(len(c.items[KindProcess])), "processes")
			b.ReportMetric(float64(len(c.items[KindCgroup])), "cgroups")
		}
	})
	b.Run("1000 more control groups", func(b *testing.B) {
		top := "/sys/fs/cgroup/pids"
		if _, err := os.Stat(top); err != nil {
			top = "/sys/fs/cgroup"
		}
		parent := filepath.Join(top, "plimsoll-bench-"+strconv.Itoa(os.Getpid()))
		if err := os.Mkdir(parent, 0o755); err != nil {
			b.Skip("no control group can be made: ", err)
		}
		defer func() { gone(b, os.Remove(parent)) }()
		for i := range 1000 {
			d := filepath.Join(parent, strconv.Itoa(i))
			require.NoError(b, os.Mkdir(d, 0o755))
			defer func() { gone(b, os.Remove(d)) }()
		}
		for b.Loop() {
			b.ReportMetric(float64(len(census(b, Machine{}).items[KindCgroup])), "cgroups")
		}
	})
}
