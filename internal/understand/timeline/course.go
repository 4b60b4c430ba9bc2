// Package timeline derives from a trace where a start's time went: what each
// thread did, what it waited for and who ended the wait, and which of it lay on
// the way from the request to its end.
//
// The method is that of the wait analysis of traces (Giraldeau and Dagenais, Wait
// Analysis of Distributed Systems Using Kernel Tracing, IEEE TPDS 27(8), 2016): a
// wait is explained by what the thread did that ended it, while it lasted.
//
// Why it is so: docs/decisions/why.md.
package timeline

import (
	"cmp"
	"maps"
	"slices"
	"sort"

	"plimsoll/internal/record"
)

// State is what a thread is at a time.
type State int

// The states of a thread.
const (
	// Unseen: nothing is known of the thread then, as before its first event.
	Unseen State = iota
	Running
	// Queued: it could run, and waits for a processor.
	Queued
	Waiting
)

func (s State) String() string { return [...]string{"unseen", "running", "queued", "waiting"}[s] }

// Interval is a time in which a thread's state, and the system call it is in, stay.
type Interval struct {
	From, To int64 // ns after the request
	State    State
	CPU      int
	Call     string // the system call that the thread is in; "": its own code
	// Stack is where the thread waits in the kernel, innermost function first.
	Stack []string
	// Purpose is what the kernel is at for it in a wait, and until it runs again; "" where
	// no function and no system call says it.
	Purpose string
	// Waker is the thread that ended a wait, 0 where an interrupt did, or where
	// that was not seen.
	Waker     int
	Interrupt bool
	// Ender is the stack of the interrupt that ended a wait.
	Ender []string
}

// Thread is one thread of a course.
type Thread struct {
	ID, Process int
	Parent      int // the thread that made it; 0: it was there before
	// Kernel: one of the kernel's own, which works for others.
	Kernel     bool
	Born, Died int64 // ns after the request; Died is 0 where it lived on
	Intervals  []Interval
	// names are the programs that it was, from the first on.
	names []named
	// code is what it was at when the clock ticked.
	code []named
	// stack is where it waited before its first event.
	stack []string
}

type named struct {
	from int64
	name string
}

// Name is what the thread's process was called at a time: a program and its verb.
func (t *Thread) Name(at int64) string {
	i := sort.Search(len(t.names), func(i int) bool { return t.names[i].from > at })
	if i == 0 {
		if len(t.names) == 0 {
			return unknown
		}
		return t.names[0].name
	}
	return t.names[i-1].name
}

// Course is the course of a start.
type Course struct {
	What    string
	Until   string
	Span    int64 // ns from the request to the end
	Waiter  int
	Threads map[int]*Thread
	Lost    int64
	// Spans are the engine's own, by their beginning; none unless they were asked for.
	Spans []record.TraceSpan

	// askers are the processes that asked where no single thread of theirs did.
	askers []int
	// crossings are what went from one process to another, in time's order.
	crossings []crossing
}

// Read derives the course of a start from its trace.
func Read(t *record.Trace) *Course {
	b := builder{trace: t, now: map[int]*Interval{}, course: &Course{
		What: t.What, Until: t.Until, Span: t.To - t.From, Waiter: t.Waiter,
		Threads: map[int]*Thread{}, Spans: t.Spans,
	}}
	if t.Tail != nil {
		b.course.Lost = t.Tail.Lost
	}
	for _, k := range t.Threads {
		th := b.thread(k.ID)
		th.Process, th.Kernel = k.Process, k.Kernel
		name := cmp.Or(k.Command, k.Name)
		th.names = []named{{-1 << 62, name}}
		if len(k.Stack) > 0 {
			th.stack = b.functions(k.Stack)
		}
	}
	// Each processor's events come in order; those of two may not.
	slices.SortStableFunc(t.Events, func(a, c record.TraceEvent) int { return cmp.Compare(a.At, c.At) })
	last := b.course.Span
	for i := range t.Events {
		b.event(&t.Events[i])
		last = max(last, t.Events[i].At)
	}
	for id := range b.now {
		b.close(id, last)
	}
	if b.course.Waiter == 0 {
		b.course.askers = t.Askers
		b.course.Waiter = b.course.asker(0, b.course.Span)
	}
	return b.course
}

// asks says whether a thread is one of those that asked.
func (c *Course) asks(id int) bool {
	t := c.Threads[id]
	return t != nil && slices.Contains(c.askers, t.Process)
}

// asker is the thread of those that asked that ran most between two instants, or
// where none did the one that ran last before.
func (c *Course) asker(from, to int64) int {
	best, most, late := 0, int64(0), int64(-1)
	for _, id := range slices.Sorted(maps.Keys(c.Threads)) {
		if !c.asks(id) {
			continue
		}
		var ran, last int64
		for _, i := range c.Threads[id].Intervals {
			if i.State == Running && i.From < to {
				ran += max(0, min(i.To, to)-max(i.From, from))
				last = min(i.To, to)
			}
		}
		if ran > most || most == 0 && last > late {
			best, most, late = id, ran, last
		}
	}
	return best
}

type builder struct {
	trace  *record.Trace
	course *Course
	now    map[int]*Interval // those that threads are in while events are read
}

func (b *builder) thread(id int) *Thread {
	t := b.course.Threads[id]
	if t == nil {
		t = &Thread{ID: id, Process: id}
		b.course.Threads[id] = t
	}
	return t
}

// close ends the interval that a thread is in.
func (b *builder) close(id int, at int64) {
	o := b.now[id]
	if o == nil {
		return
	}
	o.To = at
	if o.To > o.From {
		t := b.thread(id)
		t.Intervals = append(t.Intervals, *o)
	}
}

// enter begins another interval, with the system call of the one before; was is
// what the event shows a thread to have been that none was seen of.
func (b *builder) enter(id int, at int64, was, s State, cpu int) *Interval {
	next := &Interval{From: at, State: s, CPU: cpu}
	if o := b.now[id]; o != nil {
		next.Call = o.Call
		b.close(id, at)
	} else {
		t := b.thread(id)
		if len(t.Intervals) == 0 && t.Parent == 0 {
			// Before its first event a thread was what that event says it was.
			if at > 0 {
				first := Interval{To: at, State: was, CPU: cpu}
				if was == Waiting {
					first.Stack, first.Purpose = t.stack, purpose(t.stack, "")
				}
				t.Intervals = append(t.Intervals, first)
			}
		}
	}
	b.now[id] = next
	return next
}

func (b *builder) event(e *record.TraceEvent) {
	switch e.Kind {
	case record.TraceSwitch:
		b.swtch(e)
	case record.TraceWake:
		b.wake(e)
	case record.TraceFork:
		child := b.thread(e.Other)
		if child.Parent != 0 || len(child.Intervals) > 0 || e.Other == e.Thread || b.descends(e.Thread, e.Other) {
			return
		}
		*child = Thread{ID: e.Other, Process: e.Process, Parent: e.Thread, Born: e.At, Kernel: b.thread(e.Thread).Kernel}
		child.names = []named{{e.At, b.thread(e.Thread).Name(e.At)}}
		b.crossed(e)
		b.now[e.Other] = &Interval{From: e.At, State: Queued, CPU: e.CPU}
	case record.TraceExec:
		if e.Other != 0 && e.Other != e.Thread {
			b.takenOver(e)
		}
		b.enter(e.Thread, e.At, Running, Running, e.CPU)
		if t := b.thread(e.Thread); e.Text != "" {
			t.names = append(t.names, named{e.At, e.Text})
		}
	case record.TraceExit:
		b.thread(e.Thread).Died = e.At
	case record.TraceEnter:
		b.called(e, b.trace.Calls[e.Call])
	case record.TraceLeave:
		b.called(e, "")
	case record.TraceCode:
		t := b.thread(e.Thread)
		t.code = append(t.code, named{e.At, e.Text})
	}
}

// takenOver: where another thread of a process than its first executes a program, all
// others end, and it goes on under the first one's number. The first one waited for it.
func (b *builder) takenOver(e *record.TraceEvent) {
	b.close(e.Other, e.At)
	delete(b.now, e.Other)
	first, other := b.thread(e.Thread), b.thread(e.Other)
	first.Died = 0
	from := e.At
	if o := b.now[e.Thread]; o != nil {
		from = o.From
	} else if n := len(first.Intervals); n > 0 {
		from = first.Intervals[n-1].To
	}
	// Whatever it was at beside the other one from then on, such as its runtime's
	// housekeeping, has ended: what came of the process was the other one's work.
	if len(other.Intervals) > 0 {
		since := b.needed(e.Thread, e.Other, e.At)
		for n := len(first.Intervals); n > 0 && first.Intervals[n-1].To > since; n-- {
			last := &first.Intervals[n-1]
			if from = max(last.From, since); from > last.From {
				last.To = from
				break
			}
			first.Intervals = first.Intervals[:n-1]
		}
	}
	b.now[e.Thread] = &Interval{From: min(from, e.At), State: Waiting, CPU: e.CPU, Waker: e.Other}
}

// needed is when a thread did the last thing that another one's course needed up to an
// instant: it woke or made it, or one that did. Where it did nothing, it is the other one's
// first instant.
func (b *builder) needed(id, other int, at int64) int64 {
	first := b.thread(other).Intervals[0].From
	for by := other; by != id; {
		t := b.thread(by)
		i := t.after(at) - 1
		for ; i >= 0; i-- {
			if in := &t.Intervals[i]; in.To < at && in.State == Waiting && in.Waker != 0 && in.Waker != by && !b.thread(in.Waker).Kernel {
				break
			}
		}
		switch {
		case i >= 0:
			by, at = t.Intervals[i].Waker, t.Intervals[i].To
		case t.Parent != 0 && t.Born < at:
			by, at = t.Parent, t.Born
		default:
			return first
		}
	}
	return at
}

func (b *builder) functions(stack []int) []string {
	names := make([]string, len(stack))
	for i, f := range stack {
		names[i] = b.trace.Frames[f]
	}
	return names
}

// descends says whether a thread was made by another, or by one that it made.
func (b *builder) descends(id, from int) bool {
	for n := 0; id != 0 && n < len(b.course.Threads); n++ {
		if id == from {
			return true
		}
		id = b.thread(id).Parent
	}
	return false
}

func (b *builder) swtch(e *record.TraceEvent) {
	if e.Thread != 0 {
		state := Waiting
		if e.Runnable {
			state = Queued
		}
		if b.thread(e.Thread).Died != 0 {
			b.close(e.Thread, e.At)
			delete(b.now, e.Thread)
		} else {
			o := b.enter(e.Thread, e.At, Running, state, e.CPU)
			o.Stack = b.functions(e.Stack)
			o.Purpose = purpose(o.Stack, cmp.Or(o.Call, b.trace.Calls[e.Call]))
		}
	}
	if e.Other != 0 {
		if o := b.now[e.Other]; o != nil && o.State == Waiting {
			// A wake that was not seen.
			b.close(e.Other, e.At)
			o.From = e.At
		}
		b.enter(e.Other, e.At, Queued, Running, e.CPU)
	}
}

func (b *builder) wake(e *record.TraceEvent) {
	o := b.now[e.Other]
	if !e.Interrupt && b.meets(e.Other) {
		b.crossed(e)
	}
	switch {
	case o == nil:
		t := b.thread(e.Other)
		b.enter(e.Other, e.At, Waiting, Queued, e.CPU)
		if n := len(t.Intervals); n > 0 {
			b.woken(&t.Intervals[n-1], e)
		}
	case o.State == Waiting:
		b.woken(o, e)
		b.enter(e.Other, e.At, Waiting, Queued, e.CPU).Purpose = o.Purpose
	}
}

func (b *builder) woken(i *Interval, e *record.TraceEvent) {
	i.Interrupt = e.Interrupt
	if o := b.now[e.Thread]; e.Soft && o != nil && o.State == Running && sends[o.Call] {
		// What it sends over the loopback is received on its own back.
		i.Interrupt = false
	}
	if i.Interrupt {
		i.Ender = b.functions(e.Stack)
	} else {
		i.Waker = e.Thread
	}
}

// sends are the system calls that send to a socket.
var sends = map[string]bool{"write": true, "writev": true, "sendto": true, "sendmsg": true, "connect": true, "sendfile": true}

// called parts a thread's time at the border of a system call.
func (b *builder) called(e *record.TraceEvent, call string) {
	o := b.enter(e.Thread, e.At, Running, Running, e.CPU)
	o.Call = call
}
