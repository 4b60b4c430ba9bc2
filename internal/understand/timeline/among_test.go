package timeline

import (
	"strings"
	"testing"

	"plimsoll/internal/record"
)

// TestHandedOn: a daemon's thread hears of its helper's answer while another of its
// threads, which a timer of its own wakes, takes the work over and answers. What was
// waited for is the helper, not the timer.
func TestHandedOn(t *testing.T) {
	for _, heard := range []string{"do_epoll_wait", "unix_stream_read_generic", "__unix_dgram_recvmsg"} {
		t.Run(heard, func(t *testing.T) { handedOn(t, heard) })
	}
}

// handedOn is that where the thread waits in a function of the kernel.
func handedOn(t *testing.T, heard string) {
	t.Helper()
	s := newTale(1000, 1, 1, 2, 3, 5)
	s.Threads[2].Process = 2 // threads 2 and 3 are the daemon's
	s.Frames[0] = "do_epoll_wait"
	s.waits(3, -100, 1, 1, 50, 60)  // it takes the request
	s.waits(5, -90, 2, 3, 70, 75)   // and asks the helper,
	s.waits(2, -80, 1, 5, 700, 710) // which answers thread 2
	s.waits(3, 80, 1, 0, 720, 725)  // while a timer wakes thread 3
	s.waits(1, 60, 4, 3, 900, 910)
	s.Frames = append(s.Frames, heard)
	for i := range s.Events {
		if e := &s.Events[i]; e.Thread == 2 && len(e.Stack) > 0 {
			e.Stack = []int{len(s.Frames) - 1}
		}
	}
	s.Events = append(s.Events,
		record.TraceEvent{At: 950, Kind: record.TraceSwitch, Thread: 3, CPU: 3},
		record.TraceEvent{At: 950, Kind: record.TraceSwitch, Thread: 5, CPU: 5},
		record.TraceEvent{At: 950, Kind: record.TraceSwitch, Thread: 2, CPU: 2})
	tree := Read(&s.Trace).Tree()
	if text := outline(tree); strings.Contains(text, "waits for one of") || !strings.Contains(text, "t5 620\n") {
		t.Error(text)
	}
}

// TestIdleFromAnAnswerOn: a daemon's thread hears of its helper, and waits for it again. A
// timer wakes another of its threads meanwhile, which then takes the work over. From the
// first answer on the daemon was idle: what it waited for is the helper.
func TestIdleFromAnAnswerOn(t *testing.T) {
	s := newTale(1000, 1, 1, 2, 3, 5)
	s.Threads[2].Process = 2 // threads 2 and 3 are the daemon's
	s.Frames[0] = "do_epoll_wait"
	s.waits(3, -100, 1, 1, 50, 60)
	s.waits(5, -90, 2, 3, 70, 75)
	s.waits(2, -80, 1, 5, 100, 105) // the first answer
	s.waits(2, 110, 1, 5, 790, 795) // the second
	s.waits(3, 80, 1, 0, 600, 605)  // the timer
	s.waits(3, 610, 4, 2, 800, 805) // it waits for the other thread
	s.Frames = append(s.Frames, "futex_do_wait")
	for i := range s.Events {
		if e := &s.Events[i]; e.Thread == 3 && e.At == 610 && len(e.Stack) > 0 {
			e.Stack = []int{len(s.Frames) - 1}
		}
	}
	s.waits(1, 60, 4, 3, 900, 910)
	s.Events = append(s.Events,
		record.TraceEvent{At: 950, Kind: record.TraceSwitch, Thread: 3, CPU: 3},
		record.TraceEvent{At: 950, Kind: record.TraceSwitch, Thread: 5, CPU: 5},
		record.TraceEvent{At: 950, Kind: record.TraceSwitch, Thread: 2, CPU: 2})
	tree := Read(&s.Trace).Tree()
	if text := outline(tree); strings.Contains(text, "waits for one of") || !strings.Contains(text, "t5 500\n") {
		t.Error(text)
	}
}

// TestTakenOver: where a thread that is not its process's first executes a program, the
// way leads on under the first one's number, and before that to the one that did.
func TestTakenOver(t *testing.T) {
	s := newTale(1000, 1, 1, 2, 3)
	s.Threads[2].Process = 2
	s.waits(3, -90, 1, 1, 20, 30)
	s.waits(2, -50, 4, 3, 400, 410) // the first thread is told to end
	s.add(record.TraceEvent{At: 420, Kind: record.TraceExit, Thread: 2})
	s.add(record.TraceEvent{At: 425, Kind: record.TraceSwitch, Thread: 2})
	s.add(record.TraceEvent{At: 500, Kind: record.TraceExec, Thread: 2, Other: 3, Text: "another"})
	s.add(record.TraceEvent{At: 950, Kind: record.TraceSwitch, Thread: 2})
	s.waits(1, 10, 2, 2, 900, 910)
	tree := Read(&s.Trace).Tree()
	if text := outline(tree); strings.Contains(text, "nothing was seen") || !strings.Contains(text, "another 400") {
		t.Error(text)
	}
}

// TestALockIsNoAnswer: that somebody gives back a lock of the kernel, which who asks
// waited for, is no answer to it.
func TestALockIsNoAnswer(t *testing.T) {
	s := newTale(1000, 0, 1, 4, 2, 5)
	s.Frames = append(s.Frames, "rwsem_down_write_slowpath")
	s.Threads[1].Process = 1
	s.Askers = []int{1}
	s.waits(2, -100, 1, 1, 50, 60)  // the daemon waits for a request of thread 1
	s.waits(1, 70, 1, 5, 600, 605)  // a lock that somebody else has
	s.waits(4, -50, 1, 2, 900, 910) // the answer comes to thread 4
	s.waits(5, -50, 1, 0, 590, 595) // who has it does something of its own
	s.Events[len(s.Events)-1].CPU = 5
	for i := range s.Events {
		if e := &s.Events[i]; e.Kind == record.TraceSwitch && e.Thread == 1 {
			e.Stack = []int{len(s.Frames) - 1}
		}
	}
	s.Events = append(s.Events, record.TraceEvent{At: 950, Kind: record.TraceSwitch, Thread: 2, CPU: 2}, record.TraceEvent{At: 990, Kind: record.TraceSwitch, Thread: 5, CPU: 5})
	tree := Read(&s.Trace).Tree()
	for _, b := range tree.Steps {
		if b.Name == "t5" || b.Name == "t2" && b.NS != 850 {
			t.Errorf("%s has %d, expected 850 of the daemon and nothing of who had the lock:\n%s", b.Name, b.NS, outline(tree))
		}
	}
}

// TestLeftBeforeItsEnd: the way leads to a server's thread that another one of the server's
// wakes only later, and leaves it before. What was waited for until there is the helper
// that the server had asked, and not that other thread.
func TestLeftBeforeItsEnd(t *testing.T) {
	s := newTale(1000, 1, 1, 3, 4, 5, 6, 7)
	s.Frames[0] = "do_epoll_wait"
	s.Threads[2].Process = 3        // threads 3 and 4 are the server's,
	s.Threads[5].Process = 6        // 6 and 7 the daemon's
	s.waits(6, -100, 1, 1, 50, 60)  // which takes the request,
	s.waits(4, -90, 1, 6, 65, 70)   // asks the server,
	s.waits(5, -90, 2, 4, 80, 85)   // and that one the helper,
	s.waits(3, -80, 1, 5, 700, 710) // which answers thread 3
	s.waits(4, 90, 4, 3, 720, 725)  // that wakes thread 4
	s.waits(7, -70, 1, 4, 800, 810) // that answers thread 7
	s.waits(6, 75, 1, 0, 600, 605)  // while a timer wakes thread 6
	s.waits(6, 610, 1, 7, 850, 860)
	s.waits(1, 55, 1, 6, 900, 910)
	if text := outline(Read(&s.Trace).Tree()); strings.Contains(text, "waits for one of") || !strings.Contains(text, "t5 ") {
		t.Error(text)
	}
}
