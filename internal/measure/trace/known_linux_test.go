package trace

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/timeline"
)

// The parts of a program whose graph of waits is known. Each is this test's own
// binary, under its part's name.
//
//	client ── socket ──> server ── pipe ──> worker
//	                     computes 15 ms     sleeps 25 ms, answers, sleeps 40 ms more
//	                     another thread of its own (a futex): 10 ms
const (
	computes = 15 * time.Millisecond
	sleeps   = 25 * time.Millisecond
	beside   = 40 * time.Millisecond
	locked   = 10 * time.Millisecond
)

func TestMain(m *testing.M) {
	blindPart()
	switch os.Args[0] {
	case "server":
		serve(os.Args[1])
	case "killed-recorder":
		recordUntilKilled()
	case "client":
		ask(os.Args[1])
	case "joiner":
		join()
	case "long", "short", "last":
		branch(pauses[os.Args[0]])
	case "worker":
		pause(int64(sleeps))
		fmt.Println("done")
		time.Sleep(beside)
	default:
		os.Exit(m.Run())
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func ask(socket string) {
	c, err := net.Dial("unix", socket)
	must(err)
	_, err = fmt.Fprintln(c, "go")
	must(err)
	_, err = bufio.NewReader(c).ReadString('\n')
	must(err)
}

// serve answers until it is killed.
func serve(socket string) {
	l, err := net.Listen("unix", socket)
	must(err)
	fmt.Println("listening")
	for {
		c, err := l.Accept()
		must(err)
		_, err = bufio.NewReader(c).ReadString('\n')
		must(err)
		burn(computes)
		other := make(chan struct{})
		go func() {
			runtime.LockOSThread() // its end ends the thread
			burn(locked)
			close(other)
		}()
		<-other
		w := exec.Command("/proc/self/exe")
		w.Args = []string{"worker"}
		out, err := w.StdoutPipe()
		must(err)
		must(w.Start())
		_, err = bufio.NewReader(out).ReadString('\n')
		must(err)
		_, err = fmt.Fprintln(c, "done")
		must(err)
		go func() { _ = w.Wait() }()
	}
}

// burn computes for as long by this thread's own clock.
func burn(d time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for begin := ownTime(); ownTime()-begin < d; {
	}
}

// TestKnownGraph: the way through a program whose waits are known, over a socket, a
// thread of its own, a pipe and a pause, is that way and no other.
func TestKnownGraph(t *testing.T) {
	r := recorder(t)
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	server := exec.Command("/proc/self/exe")
	server.Args = []string{"server", socket}
	out, err := server.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	defer func() { _ = server.Process.Kill(); _ = server.Wait() }()
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	self, err := os.Executable()
	require.NoError(t, err)
	// The program's name is its part.
	client := filepath.Join(dir, "client")
	require.NoError(t, os.WriteFile(client, fmt.Appendf(nil, "#!/bin/sh\nexec -a client %s %s\n", self, socket), 0o755))
	// Others may have the processors in some of the starts; a way that is wrong is
	// wrong in all of them.
	var wrong []string
	for range 8 {
		time.Sleep(2 * beside) // the last worker has ended
		tr, _, err := r.Command(t.Context(), []string{"bash", client}, true)
		require.NoError(t, err)
		if tr.Tail.Lost != 0 {
			t.Errorf("%d events were lost", tr.Tail.Lost)
		}
		if wrong = off(timeline.Read(tr).Tree()); len(wrong) == 0 {
			return
		}
	}
	t.Error(strings.Join(wrong, "\n"))
}

// off says what of a way is not as the graph is. Processes that begin and Go's
// runtime take some milliseconds more.
func off(tree *timeline.Step) []string {
	const queued = "waits for a processor"
	worker := at(tree, "client", "server", "worker") - at(tree, "worker", queued)
	// What the worker waits for a processor is a part of the worker.
	own := at(tree, "client", "server", queued) - at(tree, "client", "server", "worker", queued)
	served := at(tree, "client", "server") - at(tree, "client", "server", "worker") - own
	// What its thread waits for the other one is that one's work, and not a wait.
	served -= begins(tree, "server", "waits for another thread (futex)")
	var wrong []string
	for what, c := range map[string]struct {
		took, want time.Duration
	}{
		"the server's own part":        {time.Duration(served), computes + locked},
		"the worker's pause":           {time.Duration(at(tree, "worker", "waits for a pause that it makes itself")), sleeps},
		"the worker, up to its answer": {time.Duration(worker), sleeps},
	} {
		if c.took < c.want*9/10 || c.took > c.want*13/10+5*time.Millisecond {
			wrong = append(wrong, fmt.Sprintf("%s: %v on the way, expected %v; the whole:\n%s", what, c.took, c.want, outline(tree, 0)))
		}
	}
	return wrong
}

// at is the time below a path of names, from the root or any step below it.
func at(s *timeline.Step, path ...string) int64 {
	if s.Name == path[0] {
		if len(path) == 1 {
			return s.NS
		}
		var sum int64
		for _, b := range s.Steps {
			sum += at(b, path[1:]...)
		}
		return sum
	}
	var sum int64
	for _, b := range s.Steps {
		sum += at(b, path...)
	}
	return sum
}

// begins is the time of a program's own causes whose names begin so.
func begins(s *timeline.Step, program, cause string) (ns int64) {
	for _, b := range s.Steps {
		if s.Name == program && b.Cause && strings.HasPrefix(b.Name, cause) {
			ns += b.NS
		}
		ns += begins(b, program, cause)
	}
	return ns
}

func outline(s *timeline.Step, depth int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%*s%s %.2f ms\n", 2*depth, "", s.Name, float64(s.NS)/1e6)
	for _, x := range s.Steps {
		b.WriteString(outline(x, depth+1))
	}
	return b.String()
}

func recorder(t *testing.T) *Recorder {
	t.Helper()
	if testing.Short() {
		t.Skip("traces this machine: left out with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("tracing needs root")
	}
	r, err := Open(Options{Stacks: true, Code: true})
	if err != nil {
		t.Skipf("this kernel can't be traced: %v", err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// TestCommands: what fails, hangs or isn't there.
func TestCommands(t *testing.T) {
	r := recorder(t)
	if _, _, err := r.Command(t.Context(), []string{"sh", "-c", "echo broken >&2; exit 3"}, true); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("a command that fails: %v", err)
	}
	if _, _, err := r.Command(t.Context(), []string{"/nonexistent"}, true); err == nil {
		t.Error("a command that is not there is run")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := r.Command(ctx, []string{"sh", "-c", "sleep 60 & wait"}, true); err == nil {
		t.Error("a command that hangs is waited for")
	}
	tr, ns, err := r.Command(t.Context(), []string{"sleep", "0.03"}, true)
	if err != nil || ns < 30e6 || tr.To-tr.From != ns || tr.Until != string(record.Exit) {
		t.Fatalf("%+v, %d ns, %v", tr, ns, err)
	}
	if tr, ns, err := r.Command(t.Context(), []string{"true"}, false); tr != nil || ns <= 0 || err != nil {
		t.Errorf("untraced: %v, %d ns, %v", tr, ns, err)
	}
}

// ownTime is the processor time of this thread.
func ownTime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		panic(err)
	}
	return time.Duration(ts.Nano())
}
