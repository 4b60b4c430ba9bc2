package timeline

import (
	"maps"
	"slices"
)

// Lanes are a course as it is drawn: the way from the request to the end, and a lane
// for each thread that is on it.
type Lanes struct {
	What string `json:"what"`
	Span int64  `json:"span_ns"`
	Way  []Bar  `json:"way"`
	// Threads are in the order in which they come on the way.
	Threads []Lane `json:"threads"`
}

// Lane is a thread.
type Lane struct {
	Name    string `json:"name"`
	Process int    `json:"process"`
	Thread  int    `json:"thread"`
	Bars    []Bar  `json:"bars"`
}

// Bar is a piece of time, ns after the request.
type Bar struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
	// State is running, queued, waiting or unseen.
	State string `json:"state"`
	// Who was on the way (of the way only), and Why the time passed.
	Who string `json:"who,omitempty"`
	Why string `json:"why"`
	// Stack is where it waits in the kernel, innermost function first; By is who
	// ended the wait.
	Stack []string `json:"stack,omitempty"`
	By    string   `json:"by,omitempty"`
}

// Lanes gives what is drawn of the course.
func (c *Course) Lanes() *Lanes {
	l := &Lanes{What: c.What, Span: c.Span}
	first := map[int]int64{}
	for _, p := range c.Path() {
		b := c.bar(&p)
		b.Who = c.name(p.Thread, p.From)
		l.Way = append(l.Way, b)
		if _, ok := first[p.Thread]; !ok {
			first[p.Thread] = p.From
		}
	}
	ids := slices.SortedFunc(maps.Keys(first), func(a, b int) int {
		if first[a] != first[b] {
			return int(first[a] - first[b])
		}
		return a - b
	})
	for _, id := range ids {
		t := c.Threads[id]
		if t == nil {
			continue
		}
		lane := Lane{Name: t.Name(c.Span), Process: t.Process, Thread: id}
		for i := range t.Intervals {
			in := &t.Intervals[i]
			if from, to := max(in.From, 0), min(in.To, c.Span); to > from {
				lane.Bars = append(lane.Bars, c.bar(&Piece{From: from, To: to, Thread: id, Interval: in}))
			}
		}
		l.Threads = append(l.Threads, lane)
	}
	return l
}

func (c *Course) bar(p *Piece) Bar {
	b := Bar{From: p.From, To: p.To, State: Unseen.String()}
	p.By = c.by(p.Interval)
	b.Why = p.why().Text
	if in := p.Interval; in != nil {
		b.State = in.State.String()
		if in.State == Waiting {
			b.Stack = in.Stack
			if in.Waker != 0 {
				b.By = c.name(in.Waker, in.To)
			}
		}
	}
	return b
}
