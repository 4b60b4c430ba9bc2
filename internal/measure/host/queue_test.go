//go:build linux

package host

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
)

const queueIn = "PLIMSOLL_TEST_QUEUE"

// TestMain lets the test's program wait in a queue as another process, until it is
// killed.
func TestMain(m *testing.M) {
	if root := os.Getenv(queueIn); root != "" {
		q := &Queue{m: Machine{Root: root}, root: true, own: systemLock, study: "another"}
		if err := q.Join(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("waits")
		_, _ = io.Copy(io.Discard, os.Stdin) // until the test ends at the latest
	}
	os.Exit(m.Run())
}

// Who came first has the machine first; who does not wait is told who does, and a
// process that is killed or stopped while it waits holds nobody up.
func TestQueue(t *testing.T) {
	m := lockable(t)
	place := func(study string) *Queue { return &Queue{m: m, root: true, own: systemLock, study: study} }
	busy := func(q *Queue) *BusyError {
		t.Helper()
		unlock, _, err := q.Lock()
		var busy *BusyError
		if !errors.As(err, &busy) {
			if unlock != nil {
				unlock()
			}
			t.Fatalf("%s has the turn: %v", q.study, err)
		}
		return busy
	}
	take := func(q *Queue) func() {
		t.Helper()
		unlock, _, err := q.Lock()
		if err != nil {
			t.Fatalf("%s: %v", q.study, err)
		}
		return unlock
	}
	end := take(place("first"))
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), queueIn+"="+m.Root)
	in, err := other.StdinPipe()
	require.NoError(t, err)
	defer in.Close()
	out, err := other.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, other.Start())
	defer other.Process.Kill()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "waits\n" {
		t.Fatal(line, err)
	}
	second, third := place("second"), place("third")
	for _, q := range []*Queue{second, third, third} {
		require.NoError(t, q.Join())
	}
	if b := busy(third); b.Before != 2 || b.Study != "first" || b.PID != os.Getpid() || b.Waits {
		t.Errorf("the third is told %+v", b)
	}
	end()
	// Nobody has the machine now, and who did not come first does not get it.
	for q, before := range map[*Queue]int{place("passing"): 3, third: 2, second: 1} {
		if b := busy(q); b.Before != before || !b.Waits || b.PID != other.Process.Pid || b.Study != "another" || !strings.Contains(b.Error(), "waits for this machine") {
			t.Errorf("%s is told %+v", q.study, b)
		}
	}
	require.NoError(t, other.Process.Signal(unix.SIGSTOP))
	for began := time.Now(); !m.stopped(other.Process.Pid); time.Sleep(time.Millisecond) { // the signal is on its way
		if time.Since(began) > 20*time.Second {
			st, err := m.proc().Stat(other.Process.Pid)
			t.Fatalf("it does not stop: %+v, %v", st, err)
		}
	}
	busy(third)
	take(second)()
	require.NoError(t, other.Process.Signal(unix.SIGCONT))
	if b := busy(third); b.Before != 1 {
		t.Errorf("who goes on has lost its place: %+v", b)
	}
	require.NoError(t, other.Process.Kill())
	_ = other.Wait()
	take(third)()
	take(place("last"))()
	if left, _ := os.ReadDir(m.path(queueOf(systemLock))); len(left) != 1 {
		t.Errorf("places are left behind: %v", left)
	}
}

// An ordinary user waits behind those of root who came before, and passes those who came
// later: root's places can be seen, though not opened.
func TestUserBehindRoot(t *testing.T) {
	m := lockable(t)
	root := &Queue{m: m, root: true, own: systemLock, study: "root's"}
	require.NoError(t, root.Join())
	defer root.Leave()
	user := func() *Queue { return &Queue{m: m, own: "/run/user/1000/plimsoll/lock", study: "user's"} }
	var busy *BusyError
	refused := func(q *Queue, before int, waits bool) {
		t.Helper()
		if _, _, err := q.Lock(); !errors.As(err, &busy) || busy.Waits != waits || busy.Before != before || busy.PID != os.Getpid() {
			t.Errorf("it is told %v: %+v", err, busy)
		}
	}
	refused(user(), 1, true) // it does not wait, and is not first
	late := user()
	require.NoError(t, late.Join())
	came := func(q *Queue, ago time.Duration) {
		t.Helper()
		at := time.Now().Add(-ago)
		require.NoError(t, os.Chtimes(q.ticket.Name(), at, at))
	}
	came(root, time.Minute)
	refused(late, 1, true)
	measures, _, err := root.Lock()
	require.NoError(t, err)
	refused(late, 0, false)
	next := &Queue{m: m, root: true, own: systemLock, study: "root's next"}
	require.NoError(t, next.Join())
	defer next.Leave()
	came(next, time.Second)
	came(late, time.Hour)
	measures()
	unlock, _, err := late.Lock()
	if err != nil {
		t.Fatalf("who came before root's next one: %v", err)
	}
	unlock()
}
