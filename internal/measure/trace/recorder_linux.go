package trace

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// Options say what is recorded.
type Options struct {
	// Stacks: where threads wait in the kernel, not only that they do.
	Stacks bool
	// AllCalls: the beginning and the end of every system call.
	AllCalls bool
	// Code: what programs compute, by looking some thousand times a second.
	Code bool
	// Pages of the buffer of each processor, a power of two; 0: 4096.
	Pages int
}

// Recorder records what goes on on this machine, switched off at first.
type Recorder struct {
	opts  Options
	wants []want
	kinds []kind
	ids   map[uint64]int
	rings []*ring
	// heralds have the executions of programs alone, and are looked at while a
	// start goes on: a process tells its command line only as long as it lives.
	heralds []*ring
	herald  []want
	known   map[uint64]int
	symbols *symbols
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
	if opts.Pages == 0 {
		opts.Pages = 4096
	}
	fs, err := openTracefs()
	if err != nil {
		return nil, err
	}
	defer func() { _ = fs.Close() }()
	r := &Recorder{opts: opts, ids: map[uint64]int{}, known: map[uint64]int{}}
	for _, p := range []struct {
		kind   kind
		name   string
		fields []string
		on     bool
		stack  bool
	}{
		{switched, "sched/sched_switch", []string{"prev_pid", "prev_state", "next_pid"}, true, opts.Stacks},
		{waking, "sched/sched_waking", []string{"pid"}, true, false},
		{forked, "sched/sched_process_fork", []string{"parent_pid", "child_pid"}, true, false},
		{executed, "sched/sched_process_exec", []string{"filename", "pid"}, true, false},
		{exited, "sched/sched_process_exit", []string{"pid"}, true, false},
		{called, "raw_syscalls/sys_enter", []string{"id"}, opts.AllCalls, false},
		{returned, "raw_syscalls/sys_exit", []string{"id"}, opts.AllCalls, false},
	} {
		if !p.on {
			continue
		}
		point, err := fs.point(p.name)
		if err == nil {
			err = point.wants(p.fields...)
		}
		if err != nil {
			return nil, fmt.Errorf("the kernel's tracepoint %s: %w", p.name, err)
		}
		w := want{point: point, stack: p.stack}
		if p.kind == executed {
			r.herald = []want{w}
		}
		r.wants, r.kinds = append(r.wants, w), append(r.kinds, p.kind)
	}
	if opts.Code {
		r.wants, r.kinds = append(r.wants, want{clock: true, stack: true}), append(r.kinds, ticked)
	}
	if opts.Stacks {
		if r.symbols, err = kernelSymbols(); err != nil {
			return nil, err
		}
	}
	cpus, err := online()
	if err != nil {
		return nil, err
	}
	for _, cpu := range cpus {
		ring, err := newRing(cpu, opts.Pages, r.wants, r.ids)
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		r.rings = append(r.rings, ring)
		herald, err := newRing(cpu, 8, r.herald, r.known)
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		r.heralds = append(r.heralds, herald)
	}
	return r, nil
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
		return nil, fmt.Errorf("%q is no list of processors like 0-3,6", text)
	}
	return all, nil
}

// Close lets go of the buffers; nothing of the tracing is left then.
func (r *Recorder) Close() error {
	var errs []error
	for _, ring := range r.all() {
		errs = append(errs, ring.Close())
	}
	r.rings, r.heralds = nil, nil
	return errors.Join(errs...)
}

func (r *Recorder) all() []*ring { return slices.Concat(r.rings, r.heralds) }

// Record records while do runs, and gives what it saw; do says what the trace is
// of, from when to when, and who waited.
func (r *Recorder) Record(do func() (record.TraceHead, error)) (*record.Trace, error) {
	g := &gathering{recorder: r, frames: map[string]int{}, addresses: map[uint64]int{}, commands: map[heard]string{}, programs: newPrograms()}
	threads := g.threads()
	for _, ring := range r.all() {
		ring.skip()
		if err := ring.enable(true); err != nil {
			return nil, fmt.Errorf("switching tracing on: %w", err)
		}
	}
	// Our own garbage waits too.
	runtime.GC()
	defer stamp.Quiet()()
	quit := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		tick := time.NewTicker(look)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				g.listen()
			}
		}
	})
	head, err := do()
	for _, ring := range r.all() {
		err = errors.Join(err, ring.enable(false))
	}
	close(quit)
	done.Wait()
	if err != nil {
		return nil, err
	}
	g.listen()
	g.drain(0)
	return g.trace(head, threads), nil
}

// look is how often new processes are asked for their command lines: the
// shortest-lived command of an engine takes longer.
const look = 4 * time.Millisecond
