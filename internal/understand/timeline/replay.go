package timeline

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// replay is a course that can be gone through again with some of its time taken out: what
// the threads did keeps its length and its order, and a wait for another thread ends when
// that one comes to where it ended it. Nothing taken out, it ends when the course did.
//
// It is critical path zeroing (Hollingsworth, Critical Path Profiling of Message Passing
// and Shared-Memory Programs, IEEE TPDS 9(10), 1998), after the fact. What is kept of a
// thread is only how much earlier it is than it was. Where the events leave open who waited
// for whom, the answer is the one by which more is saved.
type replay struct {
	pieces  []Piece
	parts   [][]part    // what goes with each piece
	threads map[int]int // the threads' places, by their numbers
	joints  []joint     // in time's order
	to      int64       // when the end was
	end     int         // the place of the thread that had it
	since   int64       // from when on the way is that thread's, whichever it leads through
}

// whoAsked stands for the threads of those that asked, from the last answer on.
const whoAsked = math.MinInt

// part is a thread's time that goes with a piece of the way.
type part struct {
	from, to int64
	thread   int
	own      bool // the piece is this thread's
}

// joint is an instant at which how much earlier a thread is depends on others.
type joint struct {
	at     int64
	kind   jointKind
	thread int
	from   int64 // since when it waited
	others []int
	// bound: it can't go on before it came to the wait itself. Of a process's threads, which
	// do each other's work, that is so only where the way leads there.
	bound bool
}

type jointKind int

const (
	// woken: another thread ended its wait. It goes on when that one has come there.
	woken jointKind = iota
	// idle: a timer ended a wait of a thread of several, which hand work to each other:
	// it may have taken over that of any of them.
	idle
	// made: another thread made it.
	made
	// told: what it did from here on came of another one, which did not wake it. The way
	// takes it for granted where it leads from one to the other.
	told
)

// replay makes the course ready to be gone through again.
func (c *Course) replay() *replay {
	w := c.walk()
	r := &replay{pieces: w.pieces, parts: make([][]part, len(w.pieces)), threads: map[int]int{}, to: c.Span}
	r.end, r.since = r.place(c.Waiter), c.Span
	if w.heard != nil {
		r.end, r.since = r.place(whoAsked), w.heard.at
		r.join(joint{at: r.since, kind: made, thread: r.end, others: []int{r.place(w.heard.from)}})
	}
	for _, x := range w.asks {
		r.join(joint{at: x.at, kind: told, thread: r.place(x.to), others: []int{r.place(x.from)}})
	}
	processes, called := map[int][]*Thread{}, map[string][]*Thread{}
	ids := slices.Sorted(maps.Keys(c.Threads))
	for _, id := range ids {
		if t := c.Threads[id]; !t.Kernel {
			processes[t.Process] = append(processes[t.Process], t)
			for _, n := range t.names {
				if all := called[n.name]; len(all) == 0 || all[len(all)-1] != t {
					called[n.name] = append(all, t)
				}
			}
		}
	}
	ends := map[spot]bool{} // where the way comes to the end of a piece
	for i := range w.pieces {
		p := &w.pieces[i]
		ends[spot{p.Thread, p.To}] = true
		r.parts[i] = r.partsOf(c, p, processes, called)
		if i > 0 {
			r.returns(c, &w.pieces[i-1], p)
		}
	}
	for _, id := range ids {
		if t := c.Threads[id]; !t.Kernel {
			r.thread(c, t, processes[t.Process], ends)
		}
	}
	slices.SortStableFunc(r.joints, func(a, b joint) int { return cmp.Compare(a.at, b.at) })
	return r
}

// spot is a thread at an instant.
type spot struct {
	thread int
	at     int64
}

// partsOf are what is taken out with a piece: itself, what else its process worked then, and
// what others of the same name did then that is the same: without a program there is none of it.
func (r *replay) partsOf(c *Course, p *Piece, processes map[int][]*Thread, called map[string][]*Thread) []part {
	if p.From >= r.since {
		return []part{{p.From, p.To, r.end, true}}
	}
	all := []part{{p.From, p.To, r.place(p.Thread), true}}
	t := c.Threads[p.Thread]
	if t == nil || t.Kernel || p.Interval == nil {
		return all
	}
	also := func(s *Thread, same func(in *Interval) bool) {
		for i := s.after(p.From); i < len(s.Intervals) && s.Intervals[i].From < p.To; i++ {
			if in := &s.Intervals[i]; same(in) {
				all = append(all, part{max(in.From, p.From), min(in.To, p.To), r.place(s.ID), false})
			}
		}
	}
	works := func(in *Interval) bool { return in.State == Running || in.State == Queued }
	for _, s := range processes[t.Process] {
		if s != t {
			also(s, works)
		}
	}
	name, why := t.Name(p.From), p.why().Text
	for _, s := range called[name] {
		if s.Process == t.Process {
			continue
		}
		also(s, func(in *Interval) bool {
			o := Piece{Thread: s.ID, Interval: in, By: c.by(in)}
			return in.State == p.Interval.State && s.Name(max(in.From, p.From)) == name && o.why().Text == why
		})
	}
	return all
}

// returns adds a joint where the way leads back to who waited, from one that did not wake it.
func (r *replay) returns(c *Course, p, next *Piece) {
	depth := len(next.For)
	if depth >= len(p.For) || !c.together(p.For[depth], next.Thread) {
		return
	}
	if t := c.Threads[next.Thread]; t != nil {
		i := t.after(next.From - 1)
		if i < len(t.Intervals) && t.Intervals[i].To == next.From && t.Intervals[i].State == Waiting && t.Intervals[i].Waker == p.Thread {
			return
		}
	}
	r.join(joint{at: next.From, kind: told, thread: r.place(next.Thread), others: []int{r.place(p.Thread)}})
}

// thread adds the joints of one, which is one of its process's.
func (r *replay) thread(c *Course, t *Thread, siblings []*Thread, ends map[spot]bool) {
	if t.Parent != 0 {
		r.join(joint{at: t.Born, kind: made, thread: r.place(t.ID), others: []int{r.place(t.Parent)}})
	}
	for i := range t.Intervals {
		in := &t.Intervals[i]
		if in.State != Waiting || in.To <= 0 || in.To > r.to {
			continue
		}
		from := max(in.From, 0)
		switch other := c.Threads[in.Waker]; {
		case in.Waker == t.ID || other != nil && other.Kernel:
			// What the kernel's own threads do is a part of how long it takes.
		case in.Waker != 0:
			bound := len(siblings) == 1 || ends[spot{t.ID, from}]
			r.join(joint{at: in.To, kind: woken, thread: r.place(t.ID), from: from, others: []int{r.place(in.Waker)}, bound: bound})
		case len(siblings) > 1 && in.idle():
			j := joint{at: in.To, kind: idle, thread: r.place(t.ID), from: from}
			for _, s := range siblings {
				if s != t && s.ran(from, in.To) > 0 {
					j.others = append(j.others, r.place(s.ID))
				}
			}
			r.join(j)
		}
	}
}

func (r *replay) join(j joint) {
	if j.at > 0 && j.at <= r.to {
		r.joints = append(r.joints, j)
	}
}

// place is a thread's, which is given one.
func (r *replay) place(id int) int {
	p, ok := r.threads[id]
	if !ok {
		p = len(r.threads)
		r.threads[id] = p
	}
	return p
}

// taking is how much of a piece of the way is taken out: 1 for all of it.
type taking struct {
	piece int
	share float64
}

// without is by how much earlier the end comes without some of the way, given in its
// order, ns: at least 0, and at most what is taken out.
func (r *replay) without(taken []taking) int64 {
	g := again{r, make([]progress, len(r.threads))}
	for _, t := range taken {
		for _, p := range r.parts[t.piece] {
			g.threads[p.thread].taken = append(g.threads[p.thread].taken, stretch{p, t.share})
		}
	}
	for i := range r.joints {
		g.pass(&r.joints[i])
	}
	end := &g.threads[r.end]
	end.reach(r.to)
	return end.earlier
}

// again is a course that is gone through again.
type again struct {
	*replay
	threads []progress
}

// progress is how far a thread has come, and how much earlier than it did.
type progress struct {
	at, earlier int64
	taken       []stretch
}

type stretch struct {
	part
	share float64
}

// reach goes on to an instant, and gives what of the way itself was taken out until there.
func (p *progress) reach(at int64) (own int64) {
	for len(p.taken) > 0 && p.taken[0].from < at {
		s := &p.taken[0]
		if from, to := max(s.from, p.at), min(s.to, at); to > from {
			out := int64(math.Round(s.share * float64(to-from)))
			if p.earlier += out; s.own {
				own += out
			}
		}
		if s.to > at {
			break
		}
		p.taken = p.taken[1:]
	}
	p.at = max(p.at, at)
	return own
}

// pass goes through a joint.
func (g *again) pass(j *joint) {
	t := &g.threads[j.thread]
	if j.kind == made || j.kind == told {
		t.reach(j.at)
		other := &g.threads[j.others[0]]
		other.reach(j.at)
		if j.kind == made {
			t.earlier = 0
		}
		t.earlier = max(t.earlier, other.earlier)
		return
	}
	t.reach(j.from)
	began := t.earlier // how much earlier it comes to its wait
	earlier := int64(0)
	// Where the wait itself is taken out, nobody has to come.
	if own := t.reach(j.at); own > 0 || j.kind == idle {
		earlier = began + own
	}
	for _, o := range j.others {
		other := &g.threads[o]
		other.reach(j.at)
		earlier = max(earlier, other.earlier)
	}
	if j.bound {
		earlier = min(earlier, began+j.at-j.from)
	}
	t.earlier = earlier
}
