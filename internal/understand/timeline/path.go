package timeline

import (
	"slices"
	"sort"
	"strings"
)

// Piece is a stretch of the way from a request to its end: what had to go on then
// for the end to come when it came.
type Piece struct {
	From, To int64
	Thread   int
	Interval *Interval // nil: nothing is known of that time
	// For are the threads that waited for this piece, the waiter first; none: it is
	// what the waiter did itself.
	For []int
	// Parts are what each of these waited for the next one for, where that says more
	// than that it waited: "has a lock on a file".
	Parts []string
	// By is who ended the wait that the piece is a part of, and was not followed; "" if
	// no thread did.
	By string
}

// Span is how long the piece takes, ns.
func (p *Piece) Span() int64 { return p.To - p.From }

// deepest bounds how many waits are followed into each other.
const deepest = 64

// Path is the way from the request to the end, without a gap: a thread's wait is
// replaced by what the thread that ended it did meanwhile, and so on. A wait that
// no thread ended (a timer, a device) stays one, and so does one whose waker was
// itself waiting for this thread.
func (c *Course) Path() []Piece { return c.walk().pieces }

func (c *Course) walk() *walk {
	w := &walk{course: c}
	if len(c.askers) > 0 {
		w.asked(0, c.Span, nil)
	} else {
		w.resolve(c.Waiter, 0, c.Span, nil)
	}
	return w
}

// waiter is a thread that waits for another, and what that other one has or does
// because of which it does; "" where nothing says it.
type waiter struct {
	id   int
	part string
}

// with adds a waiter behind others.
func with(above []waiter, id int, part string) []waiter {
	return append(above[:len(above):len(above)], waiter{id, part})
}

type walk struct {
	course *Course
	pieces []Piece
	// asks are the questions to those that answered by another thread, and heard is the last
	// that those who asked were told.
	asks  []crossing
	heard *crossing
}

func (w *walk) piece(from, to int64, thread int, i *Interval, above []waiter) {
	if to <= from {
		return
	}
	p := Piece{From: from, To: to, Thread: thread, Interval: i, By: w.course.by(i)}
	for _, a := range above {
		p.For, p.Parts = append(p.For, a.id), append(p.Parts, a.part)
	}
	w.pieces = append(w.pieces, p)
}

// by is who ended a wait, "" if no thread did. Of the kernel's own threads only the
// kind has a meaning: kworker, not kworker/1:2-events.
func (c *Course) by(i *Interval) string {
	if i == nil || i.State != Waiting || i.Waker == 0 {
		return ""
	}
	name := c.name(i.Waker, i.To)
	if t := c.Threads[i.Waker]; t != nil && t.Kernel {
		name, _, _ = strings.Cut(name, "/")
		return "the kernel's " + name
	}
	return name
}

// resolve explains what a thread's time between two instants went into.
func (w *walk) resolve(id int, from, to int64, above []waiter) {
	t := w.course.Threads[id]
	if t == nil {
		w.piece(from, to, id, nil, above)
		return
	}
	if len(above) > 0 && len(above) < deepest && w.course.asks(id) {
		w.asked(from, to, above)
		return
	}
	if t.Parent != 0 && from < t.Born {
		// It had to be made first.
		born := min(t.Born, to)
		w.resolve(t.Parent, from, born, above)
		from = born
	}
	i := sort.Search(len(t.Intervals), func(i int) bool { return t.Intervals[i].To > from })
	for ; i < len(t.Intervals) && t.Intervals[i].From < to; i++ {
		in := &t.Intervals[i]
		w.piece(from, in.From, id, nil, above)
		begin, end := max(from, in.From), min(to, in.To)
		by := t.ended(i, to)
		switch {
		case w.follows(by, id, above) && (end == in.To || by != in || in.bound() || in.left(end)):
			w.resolve(by.Waker, begin, end, with(above, id, by.part()))
		case in.idle() && w.course.shares(t) && len(above) < deepest:
			w.idled(id, begin, end, above)
		default:
			w.piece(begin, end, id, in, above)
		}
		from = end
	}
	w.piece(from, to, id, nil, above)
}

// left says whether a wait for somebody ends only after an instant, by which the way leads
// away: what the one did that ends it counts until there too.
func (i *Interval) left(at int64) bool { return at < i.To && find(i.Stack, meetings) != "" }

// ended is the wait whose end explains one: itself, or, where a timer ended it and the
// thread went on waiting for its files, the one of these that somebody ended.
func (t *Thread) ended(i int, to int64) *Interval {
	in := &t.Intervals[i]
	if in.State != Waiting || in.Waker != 0 || !in.polls() {
		return in
	}
	for k := i + 1; k < len(t.Intervals) && t.Intervals[k].From < to; k++ {
		next := &t.Intervals[k]
		switch {
		case next.State != Waiting:
		case !next.polls():
			return in
		case next.Waker != 0 && next.To <= to:
			return next
		}
	}
	return in
}

// polls says whether a wait is for any of several files, until a time.
func (i *Interval) polls() bool {
	for _, f := range i.Stack {
		switch f {
		case "do_epoll_wait", "ep_poll", "do_poll", "do_sys_poll", "do_select":
			return true
		}
	}
	return false
}

// follows says whether a wait is explained by the thread that ended it. What the
// kernel's own threads do is the mechanism that the waiting thread's stack names.
func (w *walk) follows(in *Interval, id int, above []waiter) bool {
	if in.State != Waiting || in.Waker == 0 || in.Waker == id || len(above) >= deepest || slices.ContainsFunc(above, func(a waiter) bool { return a.id == in.Waker }) {
		return false
	}
	waker := w.course.Threads[in.Waker]
	return waker == nil || !waker.Kernel
}
