package timeline

import (
	"testing"

	"plimsoll/internal/record"
)

// TestTimersOfAPoll: a wait for files that a timer interrupts is one wait: what the
// thread did that ended it in the end explains all of it.
func TestTimersOfAPoll(t *testing.T) {
	s := newTale(1000, 1, 1, 2)
	s.Frames[0] = "do_epoll_wait"
	for at := int64(100); at < 900; at += 200 {
		s.waits(1, at, 1, 0, at+190, at+195)
	}
	s.waits(1, 900, 1, 2, 980, 985)
	s.waits(2, 500, 3, 0, 700, 700)
	s.Events = append(s.Events, record.TraceEvent{At: 990, Kind: record.TraceSwitch, Thread: 2, CPU: 2})
	tree := Read(&s.Trace).Tree()
	var other int64
	for _, b := range tree.Steps {
		if b.Name == "t2" {
			other = b.NS
		}
	}
	if want := int64(4*190 + 80); other != want {
		t.Errorf("the other thread has %d of the waits, expected %d:\n%s", other, want, outline(tree))
	}
}
