package trace

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// TestAllCalls: each system call of a thread is there once, its beginning before its
// end, whichever way the kernel is asked.
func TestAllCalls(t *testing.T) {
	for name, noPrograms := range map[string]bool{"by programs in the kernel": false, "by perf events": true} {
		t.Run(name, func(t *testing.T) {
			r := recorderOf(t, Options{AllCalls: true, noPrograms: noPrograms})
			if r.calls == nil && !noPrograms {
				t.Skip("this kernel takes no programs")
			}
			tr, thread := ask1000(t, r)
			begun, inside := 0, false
			for _, e := range tr.Events {
				if e.Thread != thread || e.At < 0 || e.At > tr.To-tr.From {
					continue
				}
				switch e.Kind {
				case record.TraceEnter:
					if inside {
						t.Fatalf("a call begins %d ns after the first, before the last one has ended", e.At)
					}
					if inside = true; e.Call == unix.SYS_GETPPID {
						begun++
					}
				case record.TraceLeave:
					inside = false
				}
			}
			if begun != 1000 || tr.Tail.Lost > 0 {
				t.Errorf("%d of 1000 calls were seen, %d events lost", begun, tr.Tail.Lost)
			}
		})
	}
}

// TestCallsLost: what finds no room is counted.
func TestCallsLost(t *testing.T) {
	r := recorderOf(t, Options{AllCalls: true, Pages: 1})
	if r.calls == nil {
		t.Skip("this kernel takes no programs")
	}
	room := int64(len(r.calls.slot) / slotSize)
	if tr, _ := ask1000(t, r); tr.Tail.Lost < 2000-room {
		t.Errorf("of 2000 beginnings and ends %d were lost, with room for %d", tr.Tail.Lost, room)
	}
}

func recorderOf(t *testing.T, o Options) *Recorder {
	t.Helper()
	recorder(t) // or it skips
	r, err := Open(o)
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// ask1000 records a thousand system calls, and says which thread made them.
func ask1000(t *testing.T, r *Recorder) (*record.Trace, int) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	tr, err := r.Record(func() (record.TraceHead, error) {
		head := record.TraceHead{From: stamp.Now(), Waiter: unix.Gettid()}
		for range 1000 {
			unix.Getppid()
		}
		head.To = stamp.Now()
		return head, nil
	})
	require.NoError(t, err)
	return tr, tr.Waiter
}
