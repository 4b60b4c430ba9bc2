package trace

import (
	"cmp"
	"slices"

	"plimsoll/internal/record"
)

// switched takes a switch or a waking as a program in the kernel wrote it.
func (g *gathering) switched(cpu int, s switchEvent) {
	if s.thread > 0 && s.process > 0 {
		g.owners[s.thread] = s.process
	}
	e := record.TraceEvent{At: s.at, CPU: cpu, Kind: record.TraceSwitch, Thread: s.thread, Other: s.other}
	if !s.wakes && s.call > 0 {
		e.Call = s.call
	}
	switch {
	case s.wakes:
		e.Kind = record.TraceWake
		e.Stack = g.stack(s.interrupted)
		e.Interrupt, e.Soft = interrupting(g.functions(e.Stack))
		e.Interrupt = e.Interrupt || s.marks == byInterrupt
		if !e.Interrupt {
			e.Stack = nil // who wakes another says all
		}
		if len(s.asleep) > 0 || s.call >= 0 {
			g.sleepers = append(g.sleepers, s)
		}
	case s.marks == 0:
		e.Runnable = true
	default:
		e.Stack = g.stack(s.interrupted)
	}
	g.events = append(g.events, e)
}

// functions are the names of a stack.
func (g *gathering) functions(stack []int) []string {
	names := make([]string, len(stack))
	for i, f := range stack {
		names[i] = g.names[f]
	}
	return names
}

// lay gives each wait the stack that was found when its thread was woken: to the last
// time before that at which the thread stopped. If it could have gone on then, it had
// not yet begun to wait.
func (g *gathering) lay() {
	stops := map[int][]int{} // the events at which a thread stopped
	for _, s := range g.sleepers {
		stops[s.other] = nil
	}
	for i := range g.events {
		e := &g.events[i]
		if of, wanted := stops[e.Thread]; wanted && e.Kind == record.TraceSwitch {
			stops[e.Thread] = append(of, i)
		}
	}
	when := func(i int) int64 { return g.events[i].At }
	for _, of := range stops {
		slices.SortFunc(of, func(a, b int) int { return cmp.Compare(when(a), when(b)) })
	}
	for _, s := range g.sleepers {
		of := stops[s.other]
		n, _ := slices.BinarySearchFunc(of, s.at, func(i int, at int64) int { return cmp.Compare(when(i), at) })
		if n == 0 {
			continue // it slept before the recording began
		}
		e := &g.events[of[n-1]]
		if e.Runnable {
			continue
		}
		if e.Stack = g.stack(s.asleep); s.call >= 0 {
			e.Stack = []int{g.frame(waitsIn[s.call])}
		}
		if s.user != 0 && g.sleeps(e.Stack) {
			g.naps = append(g.naps, nap{of[n-1], g.owners[s.other], s.user})
		}
	}
}
