package timeline

import "plimsoll/internal/record"

// crossing is one thread telling another something: it woke or made it.
type crossing struct {
	at       int64
	from, to int
}

// meets says whether a thread waits for somebody, as far as it is known: who gives back
// a lock of the kernel has told it nothing.
func (b *builder) meets(id int) bool {
	stack := b.thread(id).stack
	if o := b.now[id]; o != nil {
		stack = o.Stack
	}
	return len(stack) == 0 || find(stack, meetings) != ""
}

// crossed notes that a thread told one of another process something.
func (b *builder) crossed(e *record.TraceEvent) {
	if e.Thread != 0 && b.thread(e.Thread).Process != b.thread(e.Other).Process {
		b.course.crossings = append(b.course.crossings, crossing{e.At, e.Thread, e.Other})
	}
}
