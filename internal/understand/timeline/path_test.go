package timeline

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/record"
)

// tale makes the events of threads on processors of their own.
type tale struct {
	record.Trace
	cpu map[int]int
}

func newTale(span int64, waiter int, threads ...int) *tale {
	s := &tale{cpu: map[int]int{}}
	s.What, s.Until, s.To, s.Waiter = "made", "ready", span, waiter
	s.Calls = map[int]string{1: "read", 2: "wait4", 3: "fsync", 4: "futex"}
	s.Frames = []string{"pipe_read", "do_wait", "jbd2_log_wait_commit"}
	s.Tail = &record.TraceTail{}
	for _, t := range threads {
		s.Threads = append(s.Threads, record.TraceThread{ID: t, Process: t, Name: fmt.Sprint("t", t)})
		s.cpu[t] = t
	}
	return s
}

func (s *tale) add(e record.TraceEvent) {
	e.CPU = s.cpu[e.Thread]
	s.Events = append(s.Events, e)
}

// waits: thread calls a system call and waits in it from at until it is woken by
// waker (0: an interrupt, which another thread happens to be under) and runs.
func (s *tale) waits(thread int, at int64, call int, waker int, woken, runs int64) {
	s.add(record.TraceEvent{At: at, Kind: record.TraceEnter, Thread: thread, Call: call})
	s.add(record.TraceEvent{At: at, Kind: record.TraceSwitch, Thread: thread, Stack: []int{0}})
	e := record.TraceEvent{At: woken, Kind: record.TraceWake, Thread: waker, Other: thread}
	if waker == 0 {
		e.Thread, e.Interrupt = 999, true
	}
	s.add(e)
	e = record.TraceEvent{At: runs, Kind: record.TraceSwitch, Other: thread, CPU: s.cpu[thread], Runnable: true}
	s.Events = append(s.Events, e)
	s.add(record.TraceEvent{At: runs, Kind: record.TraceLeave, Thread: thread, Call: call})
}

func words(c *Course) string {
	var b strings.Builder
	for _, p := range c.Path() {
		what := "nothing known"
		if p.Interval != nil {
			what = p.Interval.State.String()
			if p.Interval.Call != "" {
				what += " in " + p.Interval.Call
			}
		}
		fmt.Fprintf(&b, "%d-%d %d:%d %s\n", p.From, p.To, len(p.For), p.Thread, what)
	}
	return b.String()
}

// known: a client writes to a daemon, which waits for the disk, makes a child, waits
// for that and answers.
func known() *tale {
	s := newTale(1000, 1, 1, 2)
	s.waits(2, -100, 1, 1, 50, 60)  // the daemon waits for a request
	s.waits(1, 60, 1, 2, 950, 960)  // the client for the answer
	s.waits(2, 200, 3, 0, 400, 410) // the daemon for the disk
	s.cpu[3] = 3
	s.add(record.TraceEvent{At: 500, Kind: record.TraceFork, Thread: 2, Other: 3, Process: 3})
	s.Events = append(s.Events, record.TraceEvent{At: 520, Kind: record.TraceSwitch, Other: 3, CPU: 3, Runnable: true})
	s.add(record.TraceEvent{At: 530, Kind: record.TraceExec, Thread: 3, Text: "runc create"})
	s.waits(2, 510, 2, 3, 900, 905)
	s.add(record.TraceEvent{At: 895, Kind: record.TraceExit, Thread: 3})
	return s
}

func TestKnownGraph(t *testing.T) {
	s := known()
	c := Read(&s.Trace)
	want := `0-60 0:1 running
60-200 1:2 running
200-400 1:2 waiting in fsync
400-410 1:2 queued in fsync
410-510 1:2 running
510-520 2:3 queued
520-530 2:3 running
530-900 2:3 running
900-905 1:2 queued in wait4
905-950 1:2 running
950-960 0:1 queued in read
960-1000 0:1 running
`
	if got := words(c); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if n := c.Threads[3].Name(600); n != "runc create" {
		t.Errorf("the child is called %q", n)
	}
	if n := c.Threads[3].Name(510); n != "t2" {
		t.Errorf("before it executes it is called %q", n)
	}
}

// threaded: a client waits for a process whose first thread, 4, makes another, 5.
func threaded() *tale {
	s := newTale(1000, 1, 1, 4)
	s.waits(1, 60, 1, 4, 950, 960)
	s.cpu[5] = 5
	s.add(record.TraceEvent{At: 100, Kind: record.TraceFork, Thread: 4, Other: 5, Process: 4})
	s.Events = append(s.Events, record.TraceEvent{At: 110, Kind: record.TraceSwitch, Other: 5, CPU: 5, Runnable: true})
	return s
}

// TestTakenOverAtWork: a thread that is not its process's first writes to the disk and executes
// a program. What the first one was at meanwhile is not on the way.
func TestTakenOverAtWork(t *testing.T) {
	s := threaded()
	s.waits(4, 120, 4, 0, 300, 310)
	s.waits(5, 150, 3, 0, 700, 710)
	s.add(record.TraceEvent{At: 350, Kind: record.TraceSwitch, Thread: 4, Stack: []int{0}})
	s.add(record.TraceEvent{At: 800, Kind: record.TraceExec, Thread: 4, Other: 5, Text: "runc create"})
	c := Read(&s.Trace)
	want := `0-60 0:1 running
60-100 1:4 running
100-110 2:5 queued
110-150 2:5 running
150-700 2:5 waiting in fsync
700-710 2:5 queued in fsync
710-800 2:5 running
800-950 1:4 running
950-960 0:1 queued in read
960-1000 0:1 running
`
	if got := words(c); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestTakenOverAfterWork: a thread waits for its process's first one, and executes a program
// then. What the first one did until it woke that thread is on the way.
func TestTakenOverAfterWork(t *testing.T) {
	s := threaded()
	s.waits(5, 130, 4, 4, 600, 610)
	s.add(record.TraceEvent{At: 650, Kind: record.TraceSwitch, Thread: 4, Stack: []int{0}})
	s.add(record.TraceEvent{At: 800, Kind: record.TraceExec, Thread: 4, Other: 5, Text: "runc create"})
	want := `0-60 0:1 running
60-600 1:4 running
600-610 2:5 queued in futex
610-800 2:5 running
800-950 1:4 running
950-960 0:1 queued in read
960-1000 0:1 running
`
	if got := words(Read(&s.Trace)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestBornOnTheWay: the waiter waits for a thread that another one had to make.
func TestBornOnTheWay(t *testing.T) {
	s := newTale(100, 1, 1, 2)
	s.cpu[3] = 3
	s.add(record.TraceEvent{At: 40, Kind: record.TraceFork, Thread: 2, Other: 3, Process: 3})
	s.Events = append(s.Events, record.TraceEvent{At: 45, Kind: record.TraceSwitch, Other: 3, CPU: 3, Runnable: true})
	s.waits(1, 10, 1, 3, 90, 92)
	s.Events = append(s.Events, record.TraceEvent{At: 95, Kind: record.TraceSwitch, Thread: 2, CPU: 2})
	want := "0-10 0:1 running\n10-40 1:2 running\n40-45 1:3 queued\n45-90 1:3 running\n90-92 0:1 queued in read\n92-100 0:1 running\n"
	if got := words(Read(&s.Trace)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestPathHasNoGaps: whatever the events, also hostile ones, the way covers the
// span without a gap or an overlap.
func TestPathHasNoGaps(t *testing.T) {
	kinds := []record.TraceKind{record.TraceSwitch, record.TraceWake, record.TraceFork, record.TraceExec, record.TraceExit, record.TraceEnter, record.TraceLeave}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 16))
		s := newTale(1000, 1, 1, 2, 3)
		for range r.IntN(200) {
			s.Events = append(s.Events, record.TraceEvent{
				At: int64(r.IntN(1300)) - 150, CPU: r.IntN(2), Kind: kinds[r.IntN(len(kinds))], Thread: r.IntN(6), Other: r.IntN(6),
				Runnable: r.IntN(3) == 0, Interrupt: r.IntN(5) == 0, Call: r.IntN(5),
			})
		}
		check(t, seed, Read(&s.Trace))
		checkReplay(t, r, Read(&s.Trace))
		// The same where processes ask by several threads.
		s.Waiter, s.Askers = 0, []int{1, 2}
		check(t, seed, Read(&s.Trace))
		checkReplay(t, r, Read(&s.Trace))
	}
}

// TestAskedByThreads: who asks sends by one thread and hears by another, which
// stands in for the first; a timer of its own wakes it now and then.
func TestAskedByThreads(t *testing.T) {
	s := newTale(1000, 0, 1, 4, 2)
	s.Threads[1].Process = 1
	s.Askers = []int{1}
	s.waits(2, -100, 1, 1, 50, 60) // the daemon waits for a request of thread 1
	s.Events = append(s.Events, record.TraceEvent{At: 70, Kind: record.TraceSwitch, Thread: 1, CPU: 1})
	s.waits(4, -50, 1, 0, 300, 305) // a timer
	s.waits(4, 310, 1, 2, 900, 910) // the answer comes to thread 4
	s.Events = append(s.Events, record.TraceEvent{At: 950, Kind: record.TraceSwitch, Thread: 2, CPU: 2})
	tree := Read(&s.Trace).Tree()
	if len(tree.Steps) == 0 || tree.NS != 1000 {
		t.Fatal(outline(tree))
	}
	var daemon int64
	for _, b := range tree.Steps {
		if b.Name == "t2" {
			daemon = b.NS
		}
	}
	if daemon != 850 {
		t.Errorf("the daemon has %d, expected 850:\n%s", daemon, outline(tree))
	}
}

func check(t *testing.T, seed uint64, c *Course) {
	t.Helper()
	at := int64(0)
	for _, p := range c.Path() {
		if p.From != at || p.To <= p.From {
			t.Fatalf("seed %d: a piece from %d to %d where %d is due:\n%s", seed, p.From, p.To, at, words(c))
		}
		if i := p.Interval; i != nil && (p.From < i.From || p.To > i.To) {
			t.Fatalf("seed %d: a piece from %d to %d of an interval from %d to %d", seed, p.From, p.To, i.From, i.To)
		}
		at = p.To
	}
	if at != c.Span {
		t.Fatalf("seed %d: the way ends at %d of %d", seed, at, c.Span)
	}
	for id, th := range c.Threads {
		if !slices.IsSortedFunc(th.Intervals, func(a, b Interval) int { return int(a.To - b.From) }) {
			t.Fatalf("seed %d: intervals of thread %d overlap: %v", seed, id, th.Intervals)
		}
	}
}
