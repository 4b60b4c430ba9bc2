package trace

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// Options say what is recorded.
type Options struct {
	// Stacks: where threads wait in the kernel, not only that they do.
	Stacks bool
	// AllCalls: the beginning and the end of every system call.
	AllCalls bool
	// Code: what programs compute, by looking some hundred times a second.
	Code bool
	// Pages of the buffer of each processor, a power of two; 0: as many as roomy gives.
	Pages int
	// noPrograms: the kernel takes no programs of ours.
	noPrograms bool
	// asks: no program copies command lines, processes are asked for theirs.
	asks bool
}

// Recorder records what goes on on this machine, switched off at first.
type Recorder struct {
	opts  Options
	wants []want
	kinds []kind
	ids   map[uint64]int
	rings []*ring
	// heralds have the executions of programs alone where no program in the kernel copies
	// their command lines, and are looked at while a start goes on: a process tells its
	// command line only as long as it lives.
	heralds []*ring
	herald  []want
	known   map[uint64]int
	symbols *symbols
	// calls are the system calls, nil where they are not recorded, or by perf events;
	// switches are the switches and wakings, and execs the executions, nil where those are
	// perf events.
	calls    *callLog
	switches *switchLog
	execs    *execLog
	// met are the processes that were there when a start was last followed.
	met map[int]*met
	// kept are the programs whose functions were read.
	kept kept
}

// kind is which tracepoint a want is.
type kind int

const (
	switched kind = iota
	waking
	forked
	executed
	exited
	called
	returned
	ticked
)

// Open makes a recorder ready: this takes a good while and changes nothing. It
// needs root, and a kernel with tracepoints.
func Open(opts Options) (*Recorder, error) {
	r, err := open(opts, true)
	if errors.Is(err, errNoFilter) {
		r, err = open(opts, false)
	}
	return r, err
}

// A thread that stops because it waits has other bits in its state than one that
// could go on, which the processor's idle thread always could. Only of those that wait
// is the stack of interest, and it takes more than twice the time of all the rest: where
// a signal could end the wait (state 1), as when it is for another program, the innermost
// functions say it all; a lock or a grace period takes those further out too.
const (
	light  = "prev_state & 1"
	heavy  = "(prev_state & 254) && !(prev_state & 1)"
	goesOn = "!(prev_state & 255)"
)

// Of the wakings only those out of an interrupt have a stack: it names the timer or the
// device, where otherwise the thread that wakes another says all.
const (
	byHard   = "common_flags & 8"
	bySoft   = "(common_flags & 16) && !(common_flags & 8)"
	outright = "!(common_flags & 24)"
)

// How many functions of a stack are kept, from the innermost: of a timer few.
const (
	deep    = maxStack
	shallow = 8
	timers  = 6
)

func open(opts Options, filters bool) (r *Recorder, err error) {
	fs, err := openTracefs()
	if err != nil {
		return nil, err
	}
	defer func() { _ = fs.Close() }()
	r = &Recorder{opts: opts, ids: map[uint64]int{}, known: map[uint64]int{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	cpus, err := online()
	if err != nil {
		return r, err
	}
	if opts.Pages == 0 {
		opts.Pages = roomy(len(cpus))
	}
	r.opts = opts
	if !opts.noPrograms {
		r.takePrograms(slices.Max(cpus))
	}
	events := opts.AllCalls && r.calls == nil
	filters = filters && opts.Stacks && r.switches == nil
	// Without filters each kind has one event, with the deepest stack.
	plain := !filters && r.switches == nil
	stack := map[bool]int{true: deep}[opts.Stacks]
	switches, wakes := []string{"prev_pid", "prev_state", "next_pid"}, []string{"pid"}
	for _, p := range []struct {
		kind   kind
		name   string
		fields []string
		on     bool
		stack  int
		filter string
	}{
		{switched, "sched/sched_switch", switches, plain, stack, ""},
		{switched, "sched/sched_switch", switches, filters, shallow, light},
		{switched, "sched/sched_switch", switches, filters, deep, heavy},
		{switched, "sched/sched_switch", switches, filters, 0, goesOn},
		{waking, "sched/sched_waking", wakes, plain, 0, ""},
		{waking, "sched/sched_waking", wakes, filters, timers, byHard},
		{waking, "sched/sched_waking", wakes, filters, deep, bySoft},
		{waking, "sched/sched_waking", wakes, filters, 0, outright},
		{forked, "sched/sched_process_fork", []string{"parent_pid", "child_pid"}, true, 0, ""},
		{executed, "sched/sched_process_exec", []string{"filename", "pid", "old_pid"}, r.execs == nil, 0, ""},
		{exited, "sched/sched_process_exit", []string{"pid"}, true, 0, ""},
		{called, "raw_syscalls/sys_enter", []string{"id"}, events, 0, ""},
		{returned, "raw_syscalls/sys_exit", []string{"id"}, events, 0, ""},
	} {
		if !p.on {
			continue
		}
		point, err := fs.point(p.name)
		if err == nil {
			err = point.wants(p.fields...)
		}
		if err != nil {
			return r, fmt.Errorf("the kernel's tracepoint %s: %w", p.name, err)
		}
		w := want{point: point, stack: p.stack, filter: p.filter, user: p.kind == switched && p.stack > 0 && opts.Code}
		if p.kind == executed {
			r.herald = []want{w}
			r.herald[0].wakes = true
		}
		r.wants, r.kinds = append(r.wants, w), append(r.kinds, p.kind)
	}
	if opts.Code {
		r.wants, r.kinds = append(r.wants, want{clock: true, stack: deep}), append(r.kinds, ticked)
	}
	if opts.Stacks {
		if r.symbols, err = kernelSymbols(); err != nil {
			return r, err
		}
	}
	pages := opts.Pages
	if r.switches != nil {
		pages = max(1, pages/4) // what is left for perf events is little
	}
	for _, cpu := range cpus {
		ring, err := newRing(cpu, pages, r.wants, r.ids)
		if err != nil {
			return r, err
		}
		r.rings = append(r.rings, ring)
		if len(r.herald) == 0 {
			continue
		}
		herald, err := newRing(cpu, 8, r.herald, r.known)
		if err != nil {
			return r, err
		}
		r.heralds = append(r.heralds, herald)
	}
	r.gather().threads() // so that the first start finds few whom it does not know
	return r, nil
}

// roomy is how many pages a processor's buffer has: 4096 of them hold some starts of the
// busiest engine, and where there are many processors each sees fewer events. All
// together have at most 256 MiB, unless there are more than 128 processors.
func roomy(processors int) int {
	pages := 4096
	for pages > 512 && pages*processors > 1<<16 {
		pages /= 2
	}
	return pages
}

// online lists the processors, as /sys/devices/system/cpu/online writes them.
func online() ([]int, error) {
	b, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return nil, fmt.Errorf("reading which processors there are: %w", err)
	}
	return parseList(strings.TrimSpace(string(b)))
}

func parseList(text string) ([]int, error) {
	var all []int
	for part := range strings.SplitSeq(text, ",") {
		a, z, ranged := strings.Cut(part, "-")
		if !ranged {
			z = a
		}
		from, err := strconv.Atoi(a)
		if err == nil {
			var to int
			if to, err = strconv.Atoi(z); err == nil && to >= from && to < 1<<16 {
				for n := from; n <= to; n++ {
					all = append(all, n)
				}
				continue
			}
		}
		return nil, fmt.Errorf("%q is not a list of processors like 0-3,6", text)
	}
	return all, nil
}

// Close lets go of the buffers; nothing of the tracing is left then.
func (r *Recorder) Close() error {
	var errs []error
	for _, ring := range r.all() {
		errs = append(errs, ring.Close())
	}
	for _, l := range r.logs() {
		errs = append(errs, l.Close())
	}
	r.rings, r.heralds, r.calls, r.switches, r.execs = nil, nil, nil, nil, nil
	return errors.Join(errs...)
}

func (r *Recorder) all() []*ring { return slices.Concat(r.rings, r.heralds) }

// off stops the recording.
func (r *Recorder) off() error {
	var errs []error
	for _, ring := range r.all() {
		errs = append(errs, ring.enable(false))
	}
	for _, l := range r.logs() {
		errs = append(errs, l.end())
	}
	return errors.Join(errs...)
}

// Record records while do runs, and gives what it saw; do says what the trace is
// of, from when to when, and who waited.
func (r *Recorder) Record(do func() (record.TraceHead, error)) (*record.Trace, error) {
	g := r.gather()
	for _, ring := range r.all() {
		ring.skip()
		if err := ring.enable(true); err != nil {
			return nil, fmt.Errorf("switching tracing on: %w", err)
		}
	}
	for _, l := range r.logs() {
		if err := l.begin(); err != nil {
			return nil, errors.Join(err, r.off())
		}
	}
	// After that: what a thread does once it was looked at is seen.
	threads := g.threads()
	defer stamp.Quiet()()
	watching, err := g.watch()
	if err != nil {
		return nil, errors.Join(err, r.off())
	}
	head, err := do()
	err = errors.Join(err, r.off(), watching())
	if err != nil {
		return nil, err
	}
	g.listen()
	g.drain(0)
	g.name(threads)
	g.remember()
	t := g.trace(head, threads)
	// Here, and not before a start: that would find the processor's caches full of our
	// heap, and one that is not followed would not.
	runtime.GC()
	return t, nil
}

func (r *Recorder) gather() *gathering {
	if r.kept == nil {
		r.kept = kept{}
	}
	return &gathering{recorder: r, frames: map[string]int{}, addresses: map[uint64]int{}, commands: map[heard]line{}, programs: newPrograms(r.kept), owners: map[int]int{}}
}
