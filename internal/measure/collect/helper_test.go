//go:build linux

package collect

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/collect/collecttest"
	"plimsoll/internal/measure/engine"
)

// TestMain turns the test's own program into a process whose use of the
// machine is known, where it is asked to.
func TestMain(m *testing.M) {
	if what := os.Getenv("PLIMSOLL_HELPER"); what != "" {
		help(what)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// help waits for a byte, does its work, says so by a line, and stays until its
// standard input ends.
func help(what string) {
	verb, arg, _ := strings.Cut(what, "=")
	n, _ := strconv.Atoi(arg)
	one := make([]byte, 1)
	_, _ = os.Stdin.Read(one)
	var keep []byte
	done := "done"
	switch verb {
	case "touch": // so many MiB, by a mapping of its own
		keep, _ = syscall.Mmap(-1, 0, n<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
		for i := 0; i < len(keep); i += 4096 {
			keep[i] = 1
		}
	case "burn": // for so many ms
		had := processorTime()
		for end := time.Now().Add(time.Duration(n) * time.Millisecond); time.Now().Before(end); {
		}
		done = strconv.FormatInt(processorTime()-had, 10)
	case "send": // so many KiB by UDP to where nobody answers
		if c, err := net.Dial("udp", "10.213.7.2:9"); err == nil {
			b := make([]byte, 1024)
			for range n {
				_, _ = c.Write(b)
			}
		}
	case "write": // so many MiB to a file without a name, and to the disk
		if f, err := os.OpenFile(os.TempDir(), os.O_RDWR|unix.O_TMPFILE, 0o600); err == nil {
			_, _ = f.Write(make([]byte, n<<20))
			_ = f.Sync()
			_ = f.Close()
		}
	case "child": // a child that touches n MiB
		c := exec.Command("/proc/self/exe")
		c.Env = []string{"PLIMSOLL_HELPER=touch=" + arg}
		in, _ := c.StdinPipe()
		_ = c.Start()
		_, _ = in.Write(one)
		fmt.Println("child", c.Process.Pid)
		_, _ = os.Stdin.Read(one)
		_ = in.Close()
		_ = c.Wait()
		return
	}
	fmt.Println(done)
	for {
		if _, err := os.Stdin.Read(one); err != nil {
			break
		}
	}
	if len(keep) > 0 {
		keep[0]++ // it was alive until here
	}
}

// processorTime is what this process has had of the processors, ns.
func processorTime() int64 {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u) // its arguments are right
	return u.Utime.Nano() + u.Stime.Nano()
}

// worker is a helper's process.
type worker struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin interface {
		Write([]byte) (int, error)
		Close() error
	}
	out *os.File
}

func startWorker(t *testing.T, what string, flags uintptr, argv ...string) *worker {
	t.Helper()
	w := &worker{t: t, cmd: exec.Command("/proc/self/exe", argv...)}
	w.cmd.Env = []string{"PLIMSOLL_HELPER=" + what, "GODEBUG=madvdontneed=1"}
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags, Pdeathsig: syscall.SIGKILL}
	in, err := w.cmd.StdinPipe()
	require.NoError(t, err)
	w.stdin = in
	r, wr, err := os.Pipe()
	require.NoError(t, err)
	w.out, w.cmd.Stdout = r, wr
	require.NoError(t, w.cmd.Start())
	wr.Close()
	t.Cleanup(w.end)
	return w
}

func (w *worker) pid() int { return w.cmd.Process.Pid }

// work lets the helper do its work and waits until it is done.
func (w *worker) work() string {
	w.t.Helper()
	if _, err := w.stdin.Write([]byte{1}); err != nil {
		w.t.Fatal(err)
	}
	b := make([]byte, 64)
	_ = w.out.SetReadDeadline(time.Now().Add(30 * time.Second))
	n, err := w.out.Read(b)
	if err != nil {
		w.t.Fatalf("the helper said nothing: %v", err)
	}
	return strings.TrimSpace(string(b[:n]))
}

// burnt lets the helper burn, and gives the processor time that it has had, by its own
// count, ns.
func (w *worker) burnt() float64 {
	w.t.Helper()
	ns, err := strconv.ParseFloat(w.work(), 64)
	require.NoError(w.t, err)
	return ns
}

func (w *worker) end() {
	_ = w.stdin.Close()
	_ = w.cmd.Wait()
	w.out.Close()
}

// newGroup makes a control group, or skips the test.
func newGroup(t *testing.T, name string) *collecttest.Group {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("making control groups needs root")
	}
	g, err := collecttest.New(fmt.Sprintf("plimsoll-collect-%d-%s", os.Getpid(), name))
	if err != nil {
		t.Skipf("control groups can't be made here: %v", err)
	}
	t.Cleanup(func() {
		if err := g.Remove(); err != nil {
			t.Errorf("left behind: %v", err)
		}
	})
	return g
}

func newTestCollector(t *testing.T, interval time.Duration) *Collector {
	t.Helper()
	c, err := New(Options{Interval: interval, Processes: engines})
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// near fails where got is not within a share of want.
func near(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if got < want*(1-share) || got > want*(1+share) {
		t.Errorf("%s: %.0f, not %.0f ± %.0f %%", what, got, want, share*100)
	}
}

// engines are the names of one daemon with a monitor under its own name, and of
// one with shims.
var engines = engine.Processes{Daemons: []string{"lxd", "containerd"}, Helpers: []string{"containerd-shim"}, Titles: []string{"[lxc monitor]"}}
