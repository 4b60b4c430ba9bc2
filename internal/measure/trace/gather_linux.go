package trace

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// gathering is what was seen so far.
type gathering struct {
	recorder  *Recorder
	events    []record.TraceEvent // At is by the clock until the end
	frames    map[string]int
	names     []string
	addresses map[uint64]int
	commands  map[heard]line
	programs  *programs
	code      []sample // ticks in programs' own code, to be named at the end
	naps      []nap
	dozes     []doze
	sleepers  []switchEvent // wakings that say where the woken thread slept
	// owners are the processes of threads.
	owners map[int]int
	// watcher is the thread of ours that listens meanwhile, and has no part in the start.
	watcher int
}

func commandOf(pid int) string {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	if err != nil || len(b) == 0 {
		return ""
	}
	return command(strings.Split(strings.TrimRight(string(b), "\x00"), "\x00"))
}

// listen asks processes that have just executed a program for their command lines, where
// the kernel has not told them, and empties what would soon be full. Reading events takes the processor from what
// is followed: it waits until the end.
func (g *gathering) listen() {
	r := g.recorder
	for _, herald := range r.heralds {
		herald.drain(r.herald, r.known, func(s sample) {
			if c := commandOf(s.tid); c != "" {
				g.commands[heard{s.tid, s.at}] = line{c, stamp.Now()}
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

// line is a command line, and when it had been read.
type line struct {
	command string
	read    int64
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
	if r.switches != nil {
		r.switches.drain(full, func(cpu int, slot []byte) { g.switched(cpu, readSwitch(slot)) })
	}
	if r.execs != nil {
		r.execs.drain(full, func(cpu int, slot []byte) { g.executed(cpu, readExec(slot)) })
	}
	if r.calls != nil {
		r.calls.drain(full, func(cpu int, slot []byte) { g.called(readCall(cpu, slot)) })
	}
}

// executed takes an execution of a program, which has told its command line itself.
func (g *gathering) executed(cpu int, x execEvent) {
	e := record.TraceEvent{At: x.at, CPU: cpu, Kind: record.TraceExec, Thread: x.thread, Process: x.thread, Text: x.called()}
	if x.old != x.thread {
		e.Other = x.old
	}
	g.owners[x.thread] = x.thread
	g.events = append(g.events, e)
}

// fileName is what an executed file is called. A program that is executed by its
// descriptor has a number for a name, and one that executes itself again another's.
func fileName(path string) string {
	name := filepath.Base(path)
	if name == "." || name == "exe" || strings.Trim(name, "0123456789") == "" {
		return ""
	}
	return name
}

// called takes the beginning or the end of a system call.
func (g *gathering) called(c callEvent) {
	e := record.TraceEvent{At: c.at, CPU: c.cpu, Thread: c.thread, Kind: record.TraceEnter, Call: c.number}
	if c.number < 0 {
		e.Kind, e.Call = record.TraceLeave, 0
	}
	g.events = append(g.events, e)
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
		if e.Interrupt {
			e.Stack = g.stack(s.callchain)
		}
	case forked:
		e.Kind, e.Thread, e.Other = record.TraceFork, n("parent_pid"), n("child_pid")
		g.programs.parents[e.Other] = s.pid
	case executed:
		// A thread that is not its process's first takes that one's number.
		e.Kind, e.Process, e.Other = record.TraceExec, e.Thread, n("old_pid")
		if e.Other == e.Thread {
			e.Other = 0
		}
		e.Text = fileName(p.text(s.raw, "filename"))
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
	for _, l := range g.recorder.logs() {
		t.Tail.Lost += l.lost()
	}
	for _, s := range g.code {
		g.events = append(g.events, record.TraceEvent{At: s.at, CPU: s.cpu, Kind: record.TraceCode, Thread: s.tid, Text: g.part(s)})
	}
	g.lay()
	g.nameNaps()
	execs := g.executions()
	head.Frames = g.names
	for _, e := range g.events {
		if !g.aside(&e) {
			continue
		}
		at := e.At
		if e.Kind == record.TraceFork {
			if e.Process = g.owners[e.Other]; e.Process == 0 {
				e.Process = e.Other
			}
		}
		e.At -= head.From
		if e.Kind == record.TraceExec {
			e.Text = g.command(execs[e.Thread], e.Text, e.Thread, at)
		}
		if e.Kind == record.TraceEnter || e.Call != 0 {
			head.Calls[e.Call] = callName(e.Call)
		}
		t.Events = append(t.Events, e)
	}
	t.TraceHead = head
	return t
}

// aside takes our own listening out of an event: while it has a processor, that one
// counts as idle. It says whether anything is left of the event.
func (g *gathering) aside(e *record.TraceEvent) bool {
	by, of := e.Thread == g.watcher, e.Other == g.watcher
	switch {
	case g.watcher == 0 || !by && !of:
		return true
	case e.Kind != record.TraceSwitch && (of || e.Kind != record.TraceWake):
		return false
	}
	if by {
		e.Thread = 0
	}
	if of {
		e.Other = 0
	}
	return true
}

// executions are the executions of programs by each process, in their order.
func (g *gathering) executions() map[int][]record.TraceEvent {
	all := map[int][]record.TraceEvent{}
	for _, e := range g.events {
		if e.Kind == record.TraceExec {
			all[e.Thread] = append(all[e.Thread], e)
		}
	}
	for _, of := range all {
		slices.SortFunc(of, func(a, b record.TraceEvent) int { return cmp.Compare(a.At, b.At) })
	}
	return all
}

// loading is for how long, at most, a process has the next program's command line before it
// counts as executed, ns: that one is mapped in between. Where both are files of one
// name, a wrapper and what it wraps, their lines mostly are the same, and a wrong one
// does no harm as long as it is not likely.
const (
	loading      = 50e6
	loadingAlike = 2e6
)

// command is what a process is called that executed a program at a time: by its command
// line, else by the program's file. The two events of one execution do not have quite
// the same time. Where the process executed yet another program before the line was
// read, as on a busy machine, the line may be that one's.
func (g *gathering) command(execs []record.TraceEvent, file string, pid int, at int64) string {
	best, found := line{}, int64(1e6)
	for h, c := range g.commands {
		if d := max(h.at-at, at-h.at); h.pid == pid && d < found {
			best, found = c, d
		}
	}
	if best.command == "" {
		return file
	}
	program, _, _ := strings.Cut(best.command, " ")
	for _, next := range execs {
		switch {
		case next.At <= at:
		case next.Text == file && next.At-loadingAlike < best.read,
			next.Text != file && next.At-loading < best.read && program != file:
			return file
		}
	}
	return best.command
}

func callName(n int) string {
	if name := calls[n]; name != "" {
		return name
	}
	return "system call " + strconv.Itoa(n)
}
