package trace

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/record"
)

// TestInside: a thread that stops in a system call is seen to be in it, by its number, and
// one that is stopped where it computes is seen to be in none.
func TestInside(t *testing.T) {
	r := recorderOf(t, Options{Stacks: true})
	if r.switches == nil {
		t.Skip("this kernel takes no programs")
	}
	tr, waiter := waited(t, r, way{wait: func() { pause(int64(5 * time.Millisecond)) }, end: func() {}})
	if n := stopsIn(tr, waiter, false)["nanosleep"]; n == 0 {
		t.Errorf("a pause is in no system call: %v", stopsIn(tr, waiter, false))
	}
	// Two that compute on one processor take it from each other.
	pinned := func(until time.Time) {
		var one unix.CPUSet
		one.Set(0)
		if err := unix.SchedSetaffinity(0, &one); err != nil {
			t.Error(err)
		}
		for time.Now().Before(until) {
			continue
		}
	}
	tr, waiter = waited(t, r, way{wait: func() {
		end := time.Now().Add(300 * time.Millisecond) // by now it is recorded
		other := make(chan struct{})
		go func() {
			defer close(other)
			runtime.LockOSThread() // its end ends the thread, and with it where it may run
			pinned(end)
		}()
		pinned(end)
		<-other
	}, end: func() {}})
	if n := stopsIn(tr, waiter, true)[""]; n == 0 {
		t.Errorf("who computes is never stopped outside of a system call: %v", stopsIn(tr, waiter, true))
	}
}

// stopsIn counts by system calls how often a thread stopped, because it waited or because
// another's turn came.
func stopsIn(tr *record.Trace, thread int, runnable bool) map[string]int {
	in := map[string]int{}
	for _, e := range tr.Events {
		if e.Kind == record.TraceSwitch && e.Thread == thread && e.Runnable == runnable {
			in[tr.Calls[e.Call]]++
		}
	}
	return in
}
