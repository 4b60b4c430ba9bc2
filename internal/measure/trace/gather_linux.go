package trace

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// gathering is what was seen so far.
type gathering struct {
	recorder  *Recorder
	events    []record.TraceEvent // At is by the clock until the end
	frames    map[string]int
	names     []string
	addresses map[uint64]int
	commands  map[heard]string
	programs  *programs
	code      []sample // ticks in programs' own code, to be named at the end
	naps      []nap
	// owners are the processes of threads.
	owners map[int]int
}

// threads lists those that there are.
func (g *gathering) threads() []record.TraceThread {
	var all []record.TraceThread
	for _, pid := range proc.Here.PIDs() {
		command := commandOf(pid)
		if g.recorder.opts.Code {
			g.programs.maps[pid] = mappings(pid)
		}
		tasks, _ := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "task"))
		for _, t := range tasks {
			id, err := strconv.Atoi(t.Name())
			if err != nil {
				continue
			}
			name, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "task", t.Name(), "comm"))
			if err != nil {
				continue // it has just ended
			}
			th := record.TraceThread{ID: id, Process: pid, Name: strings.TrimSpace(string(name)), Command: command, Kernel: command == "" && isKernel(pid)}
			if g.recorder.opts.Stacks {
				th.Stack = g.waiting(pid, id)
			}
			all = append(all, th)
		}
	}
	return all
}

// isKernel says whether a process is one of the kernel's own (PF_KTHREAD).
func isKernel(pid int) bool {
	s, err := proc.Here.Stat(pid)
	return err == nil && s.Flags&0x00200000 != 0
}

func commandOf(pid int) string {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	if err != nil || len(b) == 0 {
		return ""
	}
	return Command(strings.Split(strings.TrimRight(string(b), "\x00"), "\x00"))
}

// listen asks processes that have just executed a program for their command lines,
// and empties what would soon be full. Reading events takes the processor from what
// is followed: it waits until the end.
func (g *gathering) listen() {
	r := g.recorder
	for _, herald := range r.heralds {
		herald.drain(r.herald, r.known, func(s sample) {
			if c := commandOf(s.tid); c != "" {
				g.commands[heard{s.tid, s.at}] = c
			}
		}, func(mapping) {})
	}
	g.drain(0.5)
}

// heard is an execution of a program: whose, and when.
type heard struct {
	pid int
	at  int64
}

// drain reads the buffers that are fuller than a share of their size.
func (g *gathering) drain(full float64) {
	r := g.recorder
	for _, ring := range r.rings {
		if ring.filled() < full {
			continue
		}
		ring.drain(r.wants, r.ids, func(s sample) { g.sample(ring.cpu, s) }, func(m mapping) {
			g.programs.maps[m.pid] = append(g.programs.maps[m.pid], m)
		})
	}
}

// The kernel's marks on an event that an interrupt caused (enum trace_flag_type).
const hardirq, softirq = 0x08, 0x10

func (g *gathering) sample(cpu int, s sample) {
	r := g.recorder
	p := r.wants[s.event].point
	n := func(name string) int { return int(p.number(s.raw, name)) }
	if r.kinds[s.event] == ticked {
		s.raw, s.cpu = nil, cpu
		g.code = append(g.code, s)
		return
	}
	if s.pid > 0 && s.tid > 0 {
		g.owners[s.tid] = s.pid
	}
	e := record.TraceEvent{At: s.at, CPU: cpu, Thread: n("common_pid")}
	switch r.kinds[s.event] {
	case switched:
		e.Kind, e.Thread, e.Other = record.TraceSwitch, n("prev_pid"), n("next_pid")
		state := p.number(s.raw, "prev_state")
		// The bit above the states of waiting says that it was preempted.
		e.Runnable = state&0xff == 0
		if !e.Runnable {
			e.Stack = g.stack(s.callchain)
			if s.user != 0 && g.sleeps(e.Stack) {
				g.naps = append(g.naps, nap{len(g.events), s.pid, s.user})
			}
		}
	case waking:
		e.Kind, e.Other = record.TraceWake, n("pid")
		flags := n("common_flags")
		e.Interrupt = flags&(hardirq|softirq) != 0
		e.Soft = flags&(hardirq|softirq) == softirq
	case forked:
		e.Kind, e.Thread, e.Other = record.TraceFork, n("parent_pid"), n("child_pid")
		g.programs.parents[e.Other] = s.pid
	case executed:
		// A thread that is not its process's first takes that one's number.
		e.Kind, e.Process, e.Other = record.TraceExec, e.Thread, n("old_pid")
		if e.Other == e.Thread {
			e.Other = 0
		}
		// A program that is executed by its descriptor has a number for a name, and one
		// that executes itself again another's.
		if e.Text = filepath.Base(p.text(s.raw, "filename")); e.Text == "exe" || strings.Trim(e.Text, "0123456789") == "" {
			e.Text = ""
		}
	case exited:
		e.Kind = record.TraceExit
	case called:
		e.Kind, e.Call = record.TraceEnter, n("id")
	case returned:
		e.Kind, e.Call = record.TraceLeave, n("id")
	}
	g.events = append(g.events, e)
}

// stack turns addresses into functions.
func (g *gathering) stack(chain []uint64) []int {
	stack := make([]int, 0, len(chain)+1)
	for _, at := range chain {
		i, ok := g.addresses[at]
		if !ok {
			i = g.frame(g.recorder.symbols.name(at))
			g.addresses[at] = i
		}
		stack = append(stack, i)
	}
	return stack
}

// part says what a processor did when the clock ticked: a system call, what a program
// causes by touching its memory, or what the program itself is busy with.
func (g *gathering) part(s sample) string {
	const kernel = 1 << 63
	if len(s.callchain) == 0 || s.callchain[0] < kernel {
		if what := g.programs.part(s.pid, s.callchain); what != "" {
			return "busy with " + what
		}
		return ""
	}
	if g.recorder.symbols == nil {
		return ""
	}
	var names []string
	for _, at := range s.callchain {
		if at < kernel {
			break
		}
		names = append(names, g.recorder.symbols.name(at))
	}
	return kernelPart(names)
}

// trace gives what was gathered, its times counted from the request.
func (g *gathering) trace(head record.TraceHead, threads []record.TraceThread) *record.Trace {
	head.Threads = threads
	head.Calls = map[int]string{}
	t := &record.Trace{Tail: &record.TraceTail{}}
	for _, ring := range g.recorder.rings {
		t.Tail.Lost += ring.lost
	}
	for _, s := range g.code {
		g.events = append(g.events, record.TraceEvent{At: s.at, CPU: s.cpu, Kind: record.TraceCode, Thread: s.tid, Text: g.part(s)})
	}
	g.nameNaps()
	head.Frames = g.names
	for _, e := range g.events {
		at := e.At
		if e.Kind == record.TraceFork {
			if e.Process = g.owners[e.Other]; e.Process == 0 {
				e.Process = e.Other
			}
		}
		e.At -= head.From
		if e.Kind == record.TraceExec {
			if c := g.command(e.Thread, at); c != "" {
				e.Text = c
			}
		}
		if e.Kind == record.TraceEnter {
			head.Calls[e.Call] = callName(e.Call)
		}
		t.Events = append(t.Events, e)
	}
	t.TraceHead = head
	return t
}

// command is the command line by which a process executed a program at a time. The
// two events of one execution do not have quite the same time.
func (g *gathering) command(pid int, at int64) string {
	best, found := "", int64(1e6)
	for h, c := range g.commands {
		if d := max(h.at-at, at-h.at); h.pid == pid && d < found {
			best, found = c, d
		}
	}
	return best
}

func callName(n int) string {
	if name := calls[n]; name != "" {
		return name
	}
	return "system call " + strconv.Itoa(n)
}
