package trace

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// met is a process that an earlier start has found here. What it is need not be asked
// again: reading it of every process just before a start leaves the processor's caches
// full of that, and the start has to fill them anew.
type met struct {
	start   uint64 // ticks after boot: with the number it is this process and no other
	name    string // of its first thread; mostly another one once it executes a program
	command string
	maps    []mapping
}

// meet gives what is known of a process, and asks one that is not known yet.
func (r *Recorder) meet(s proc.Stat) *met {
	if p := r.met[s.PID]; p != nil && p.start == s.Start && p.name == s.Comm {
		return p
	}
	p := &met{start: s.Start, name: s.Comm, command: commandOf(s.PID)}
	if r.opts.Code {
		p.maps = mappings(s.PID)
	}
	return p
}

// threads lists them, and forgets the processes that have ended. Where
// the kernel's own wait is of no interest: they are not followed.
func (g *gathering) threads() []record.TraceThread {
	r := g.recorder
	var all []record.TraceThread
	here := map[int]*met{}
	for _, pid := range proc.Here.PIDs() {
		s, err := proc.Here.Stat(pid)
		if err != nil {
			continue // it has just ended
		}
		if s.Flags&kernelThread != 0 {
			all = append(all, record.TraceThread{ID: pid, Process: pid, Name: s.Comm, Kernel: true})
			continue
		}
		p := r.meet(s)
		here[pid], g.programs.maps[pid] = p, slices.Clip(p.maps)
		tasks, _ := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "task"))
		for _, t := range tasks {
			id, err := strconv.Atoi(t.Name())
			if err != nil {
				continue
			}
			th := record.TraceThread{ID: id, Process: pid, Name: p.name, Command: p.command}
			if r.opts.Stacks {
				th.Stack = g.waiting(pid, id)
			}
			all = append(all, th)
		}
	}
	r.met = here
	return all
}

// name gives threads their own names, once nothing is followed any more, and their pauses
// the function that made them; one that has ended by then keeps its process's name.
func (g *gathering) name(threads []record.TraceThread) {
	own := map[int]bool{}
	for _, d := range g.dozes {
		own[d.thread] = g.programs.ownSleep(d.pid, d.at)
	}
	for i := range threads {
		t := &threads[i]
		if t.Kernel {
			continue
		}
		if own[t.ID] {
			t.Stack = append(t.Stack, g.frame(goSleep))
		}
		b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(t.Process), "task", strconv.Itoa(t.ID), "comm"))
		if err == nil {
			t.Name = strings.TrimSpace(string(b))
		}
	}
}

// remember looks again at the processes that were seen at work: what they have mapped
// since they were met is needed now. Those that have executed a program are met anew.
func (g *gathering) remember() {
	r := g.recorder
	for _, e := range g.events {
		if e.Kind == record.TraceExec {
			delete(r.met, e.Thread)
			delete(r.met, e.Other)
		}
	}
	seen := map[int]bool{}
	for _, s := range g.code {
		if p := r.met[s.pid]; p != nil && !seen[s.pid] {
			seen[s.pid] = true
			if now := mappings(s.pid); len(now) > 0 {
				p.maps = now
				g.programs.maps[s.pid] = append(g.programs.maps[s.pid], now...)
			}
		}
	}
}
