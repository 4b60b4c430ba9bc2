package timeline

import (
	"maps"
	"slices"
	"sort"
)

// company are threads that hand what comes in to each other without waking anybody, so
// that what one of them waited for says little: those of the processes that asked, or
// of one process.
type company struct {
	ours func(id int) bool
	// theirs says whether a thread can be one that they waited for.
	theirs func(id int) bool
}

// asked explains the time of the processes that asked.
func (w *walk) asked(from, to int64, above []waiter) {
	c := w.course
	w.among(company{c.asks, c.answers}, c.asker(from, to), from, to, above, true)
}

// idled explains the time in which a thread waited for nothing but files that did not
// come or a time that passed, while others of its process may have been at work.
func (w *walk) idled(id int, from, to int64, above []waiter) {
	c := w.course
	process := c.Threads[id].Process
	ours := func(other int) bool {
		t := c.Threads[other]
		return t != nil && t.Process == process
	}
	// Before who waits for us had asked we could do nothing for it.
	waiting := map[int]bool{}
	for _, other := range above {
		if t := c.Threads[other.id]; t != nil {
			waiting[t.Process] = true
		}
	}
	theirs := func(other int) bool {
		t := c.Threads[other]
		return other != 0 && t != nil && !t.Kernel && t.Process != process && !waiting[t.Process]
	}
	w.among(company{ours, theirs}, id, from, to, above, false)
}

// among explains the time of threads that hand what comes in to each other: between a
// question that leaves them and the answer that comes in counts who answers, and else
// what they do themselves. Last is the one of them that had the end.
func (w *walk) among(us company, last int, from, to int64, above []waiter, follow bool) {
	type part struct {
		from, to int64
		own, by  int // who of ours, who answers; 0: nobody
	}
	var parts []part
	c := w.course
	i := sort.Search(len(c.crossings), func(i int) bool { return c.crossings[i].at > to }) - 1
	// before finds the latest crossing of a kind.
	before := func(out bool) *crossing {
		for ; i >= 0 && c.crossings[i].at > from; i-- {
			x := &c.crossings[i]
			if out && us.ours(x.from) && us.theirs(x.to) || !out && us.ours(x.to) && us.theirs(x.from) {
				return x
			}
		}
		return nil
	}
	for to > from {
		answer := before(false)
		if answer == nil {
			parts = append(parts, part{from: from, to: to, own: last})
			break
		}
		begin, own := from, answer.to
		parts = append(parts, part{from: answer.at, to: to, own: last})
		if follow && len(above) == 0 && w.heard == nil {
			w.heard = answer
		}
		if question := before(true); question != nil {
			begin, own = question.at, question.from
			if c.together(question.to, answer.from) {
				w.asks = append(w.asks, crossing{begin, own, answer.from})
			}
		}
		parts = append(parts, part{from: begin, to: answer.at, own: own, by: answer.from})
		to, last = begin, own
	}
	// A company that is idle all the time, or from an answer on, is told something only later:
	// it waited for that.
	if !follow && len(parts) > 0 {
		if end := &parts[0]; end.by == 0 && c.idles(us, end.own, end.from, end.to) {
			end.by = c.later(us, end.to)
		}
	}
	for _, p := range slices.Backward(parts) {
		switch {
		case p.from >= p.to:
		case p.by != 0 && len(above) < deepest:
			w.resolve(p.by, p.from, p.to, with(above, p.own, ""))
		case follow:
			w.own(us.ours, p.own, p.from, p.to, above)
		default:
			w.plain(c.busiest(us.ours, p.own, p.from, p.to), p.from, p.to, above)
		}
	}
}

// idles says whether of a company hardly anybody ran between two instants.
func (c *Course) idles(us company, or int, from, to int64) bool {
	t := c.Threads[c.busiest(us.ours, or, from, to)]
	return t != nil && t.ran(from, to) < (to-from)/10
}

// later is who tells a company something next, unless it asks for something before; 0
// if nobody does.
func (c *Course) later(us company, after int64) int {
	i := sort.Search(len(c.crossings), func(i int) bool { return c.crossings[i].at >= after })
	for ; i < len(c.crossings); i++ {
		x := &c.crossings[i]
		switch {
		case us.ours(x.from) && us.theirs(x.to):
			return 0
		case us.ours(x.to) && us.theirs(x.from):
			return x.from
		}
	}
	return 0
}

// own explains a thread's time by what it and the others of its company did.
func (w *walk) own(ours func(id int) bool, id int, from, to int64, above []waiter) {
	t := w.course.Threads[id]
	if t == nil {
		w.piece(from, to, id, nil, above)
		return
	}
	if t.Parent != 0 && from < t.Born && ours(t.Parent) && len(above) < deepest {
		born := min(t.Born, to)
		w.own(ours, t.Parent, from, born, with(above, id, ""))
		from = born
	}
	for i := t.after(from); i < len(t.Intervals) && t.Intervals[i].From < to; i++ {
		in := &t.Intervals[i]
		w.piece(from, in.From, id, nil, above)
		begin, end := max(from, in.From), min(to, in.To)
		switch {
		case w.follows(in, id, above) && ours(in.Waker) && end == in.To:
			w.own(ours, in.Waker, begin, end, with(above, id, ""))
		case w.follows(in, id, above) && in.bound() && !ours(in.Waker):
			w.resolve(in.Waker, begin, end, with(above, id, in.part()))
		default:
			w.piece(begin, end, id, in, above)
		}
		from = end
	}
	w.piece(from, to, id, nil, above)
}

// plain is a thread's time as it is, whoever ended its waits.
func (w *walk) plain(id int, from, to int64, above []waiter) {
	w.own(func(int) bool { return false }, id, from, to, above)
}

// answers says whether a thread can answer those that asked: it is none of them, and
// not the kernel's.
func (c *Course) answers(id int) bool {
	t := c.Threads[id]
	return id != 0 && !c.asks(id) && (t == nil || !t.Kernel)
}

// shares says whether a thread's process has others.
func (c *Course) shares(t *Thread) bool {
	for _, other := range c.Threads {
		if other != t && other.Process == t.Process {
			return true
		}
	}
	return false
}

// busiest is the one of a company that ran most between two instants, or where none
// did the one that is given.
func (c *Course) busiest(ours func(id int) bool, or int, from, to int64) int {
	best, most := or, int64(0)
	for _, id := range slices.Sorted(maps.Keys(c.Threads)) {
		if !ours(id) {
			continue
		}
		if ran := c.Threads[id].ran(from, to); ran > most {
			best, most = id, ran
		}
	}
	return best
}

// ran is how long a thread ran between two instants, ns.
func (t *Thread) ran(from, to int64) (ns int64) {
	for i := t.after(from); i < len(t.Intervals) && t.Intervals[i].From < to; i++ {
		if in := &t.Intervals[i]; in.State == Running {
			ns += max(0, min(in.To, to)-max(in.From, from))
		}
	}
	return ns
}

// after is the first of a thread's intervals that ends after an instant.
func (t *Thread) after(at int64) int {
	return sort.Search(len(t.Intervals), func(i int) bool { return t.Intervals[i].To > at })
}

// idle says whether a wait says nothing of what its process waited for: no thread
// ended it, and it was for any of several files, or until a time, or Go's runtime looking
// after its threads now and then.
func (i *Interval) idle() bool {
	if i.State != Waiting || i.Waker != 0 {
		return false
	}
	return i.polls() || slices.Contains(i.Stack, goSleep) || find(i.Stack, meetings) != "" && find(i.Ender, enders) == timer
}

// goSleep is the function by which Go's runtime makes its pauses, and no program.
const goSleep = "runtime.usleep"
