//go:build linux

package proc

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
)

func TestMounts(t *testing.T) {
	l, err := ParseMounts("" +
		"1 0 8:1 / / rw - ext4 /dev/sda rw\n" +
		`2 1 0:5 /sub /a\040b rw shared:1 master:2 - overlay ov\134er rw,lowerdir=/x` + "\n" +
		"3 1 0:6 / /a rw - tmpfs none rw\n" +
		"4 1 0:7 / /a rw - xfs none rw\n" +
		"5 1 0:8 / /empty rw - fuse  rw\n")
	require.NoError(t, err)
	if m := l[1]; m.Mountpoint != "/a b" || m.Root != "/sub" || m.Source != `ov\er` || m.VFSOptions != "rw,lowerdir=/x" {
		t.Errorf("%+v", m)
	}
	for p, want := range map[string]int{"/": 1, "/ab": 1, "/a b/c": 2, "/a": 4, "/a/x": 4} {
		if m := On(l, p); m == nil || m.ID != want {
			t.Errorf("%s lies on %+v", p, m)
		}
	}
	if m := On(l[1:], "/x"); m != nil {
		t.Errorf("/x lies on %+v", m)
	}
	for _, bad := range []string{"x", "1 2 3 4 5 6 7", "1 2 3 4 5 - a b", `1 0 8:1 / /\9 rw - ext4 /dev/sda rw`} {
		if _, err := ParseMounts(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// Whoever may mount chooses the point and the source: nothing in them may look
// like a field, or like a mount of its own.
func TestHostileMounts(t *testing.T) {
	l, err := ParseMounts(`7 1 0:5 / /a\012(x\011-\040y rw - tmpfs x\040-\040cgroup2\040(\043 rw` + "\n" +
		"8 1 0:6 / /long rw - overlay none rw,lowerdir=" + strings.Repeat("/layer:", 20000) + "\n")
	require.NoError(t, err)
	if m := l[0]; len(l) != 2 || m.Mountpoint != "/a\n(x\t- y" || m.FSType != "tmpfs" || m.Source != "x - cgroup2 (#" {
		t.Errorf("%+v", m)
	}
	if m := l[1]; m.Mountpoint != "/long" || m.FSType != "overlay" || m.VFSOptions != "" {
		t.Errorf("a line beyond what the library reads gave %.200v", m)
	}
	if h := Hierarchies(l); len(h) != 0 {
		t.Errorf("hierarchies of control groups: %+v", h)
	}
}

func TestBelow(t *testing.T) {
	var l []*Mount
	for _, p := range []string{"/run/a b", "/run/a b/c", "/run/a bc", "/xy", "/x", "/run/a b"} {
		l = append(l, &Mount{Mountpoint: p})
	}
	if got := Below(l, "/run/a b", "", "/x"); !slices.Equal(got, []string{"/run/a b", "/run/a b/c", "/x", "/run/a b"}) {
		t.Errorf("%q", got)
	}
}

func TestStat(t *testing.T) {
	st, err := ParseStat("42 (a) (b c) S 7 1 1 0 -1 4194560 1 2 3 4 11 22 0 0 20 0 1 0 9876 1 1 1\n")
	if want := (Stat{42, "a) (b c", 'S', 7, 4194560, 33, 9876}); err != nil || st != want {
		t.Errorf("%+v %v", st, err)
	}
	for _, bad := range []string{"", "1 (x", "x (y) S 1 2 3", ") 1 ("} {
		if st, err := ParseStat(bad); err == nil {
			t.Errorf("%q gave %+v", bad, st)
		}
	}
	if st, err := Here.Stat(os.Getpid()); err != nil || st.PPID != os.Getppid() || st.StartText() == "0" {
		t.Errorf("we are %+v %v", st, err)
	}
}

// Every thread of ours must read the same start as another process does, also under
// QEMU's user emulation: a run proves by it what is its own.
func TestStartOfThreads(t *testing.T) {
	const helper = "PLIMSOLL_TEST_STARTS"
	if os.Getenv(helper) != "" {
		for range 20 {
			starts := make(chan string)
			go func() {
				runtime.LockOSThread() // and the thread ends with the goroutine
				st, err := Here.Stat(os.Getpid())
				starts <- fmt.Sprint(st.StartText(), err)
			}()
			fmt.Println("start", <-starts)
			time.Sleep(11 * time.Millisecond) // a tick, in which a start is counted
		}
		fmt.Println("asked")
		_, _ = io.Copy(io.Discard, os.Stdin) // until the test has read ours too
		return
	}
	for _, emulator := range []string{"", "qemu-x86_64-static"} {
		t.Run(cmp.Or(emulator, "kernel"), func(t *testing.T) {
			args := []string{os.Args[0], "-test.run=^TestStartOfThreads$"}
			if emulator != "" {
				path, err := exec.LookPath(emulator)
				if err != nil || runtime.GOARCH != "amd64" {
					t.Skip(emulator, "is not installed, or this is no amd64: apt-get install qemu-user-static")
				}
				args = append([]string{path}, args...)
			}
			cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
			cmd.Env = append(os.Environ(), helper+"=1")
			in, err := cmd.StdinPipe()
			require.NoError(t, err)
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			seen := map[string]int{}
			lines := bufio.NewScanner(out)
			for lines.Scan() && lines.Text() != "asked" {
				if start, ok := strings.CutPrefix(lines.Text(), "start "); ok {
					seen[start]++
				}
			}
			st, err := Here.Stat(cmd.Process.Pid)
			require.NoError(t, err)
			require.NoError(t, in.Close())
			_, _ = io.Copy(io.Discard, out)
			require.NoError(t, cmd.Wait())
			if want := fmt.Sprint(st.StartText(), error(nil)); len(seen) != 1 || seen[want] != 20 {
				t.Errorf("its threads say it began at %v, the kernel %q", seen, want)
			}
		})
	}
}

func TestGroups(t *testing.T) {
	g, err := ParseGroups("8:cpu,cpuacct:/a:b\n1:name=systemd:/\n0::/user.slice\n")
	if err != nil || len(g) != 3 || g[2].Controllers != nil {
		t.Fatalf("%+v %v", g, err)
	}
	by := g.ByController()
	if len(by) != 4 || by["cpu"] != "/a:b" || by["cpuacct"] != "/a:b" || by["name=systemd"] != "/" || by[""] != "/user.slice" {
		t.Errorf("%q", by)
	}
	for _, bad := range []string{"x\n", "1:cpu\n", "0::relative\n"} {
		if g, err := ParseGroups(bad); err == nil {
			t.Errorf("%q gave %+v", bad, g)
		}
	}
}

func TestHierarchies(t *testing.T) {
	got := Hierarchies([]*Mount{
		{Mountpoint: "/cg/cpu", Root: "/", FSType: "cgroup", VFSOptions: "rw,cpu,cpuacct"},
		{Mountpoint: "/tmp", FSType: "tmpfs"},
		{Mountpoint: "/cg/new", Root: "/docker", FSType: "cgroup2", VFSOptions: "rw,nsdelegate"},
	})
	if len(got) != 2 || got[0].Unified || !got[0].Has("cpu") || got[0].Has("memory") || !got[1].Unified || got[1].Has("rw") || got[1].Root != "/docker" {
		t.Errorf("%+v", got)
	}
}

func TestFiles(t *testing.T) {
	d := Dir(t.TempDir())
	require.NoError(t, os.Mkdir(filepath.Join(string(d), "77"), 0o755))
	for name, text := range map[string]string{
		"loadavg": "0.05 0.03 0.04 3/94 8077\n", "filesystems": "nodev\tproc\n\text4\n",
		"77/status": "Name:\tx\nUid:\t0\t1\t2\t3\n", "77/cmdline": "x\x00--at=/y z\x00", "meminfo": "MemTotal: 1000 kB\nShmem: 8 kB\n",
		"77/limits": "Limit                     Soft Limit           Hard Limit           Units     \n" +
			"Max cpu time              unlimited            unlimited            seconds   \n" +
			"Max open files            256                  4096                 files     \n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(string(d), name), []byte(text), 0o644))
	}
	if n, err := d.Threads(); err != nil || n != 94 {
		t.Errorf("%d threads, %v", n, err)
	}
	if !d.HasFileSystem("ext4") || !d.HasFileSystem("proc") || d.HasFileSystem("ext") || d.HasFileSystem("nodev") {
		t.Error("the file systems are not those of the list")
	}
	if s, err := d.Status(PID(77)); err != nil || s["Uid"] != "0\t1\t2\t3" {
		t.Errorf("%q %v", s, err)
	}
	if argv, err := d.Argv(77); err != nil || !slices.Equal(argv, []string{"x", "--at=/y z"}) {
		t.Errorf("%q %v", argv, err)
	}
	if argv, err := d.Argv(78); err == nil {
		t.Errorf("nobody's command line is %q", argv)
	}
	if m, err := d.Memory(); err != nil || m.MemTotalBytes == nil || *m.MemTotalBytes != 1000<<10 || m.MemAvailableBytes != nil {
		t.Errorf("%+v %v", m, err)
	}
	want := Limit{256, 4096}
	if l, err := d.Limits(PID(77)); err != nil || l["Max open files"] != want || l["Max cpu time"] != (Limit{unlimited, unlimited}) {
		t.Errorf("%+v %v", l, err)
	}
	if l, err := parseLimits("head\nMax open files\n"); err == nil {
		t.Errorf("a torn line gave %+v", l)
	}
	if got := d.PIDs(); !slices.Equal(got, []int{77}) {
		t.Errorf("%d", got)
	}
	nobody := Dir(filepath.Join(string(d), "nothing"))
	if _, err := nobody.Mounts(Self); err == nil {
		t.Error("no file, and yet mounts")
	}
}
