package trace

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/devnull"
	"plimsoll/internal/common/harmless"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// Command is Commands of one: its trace, if it is to be traced, and what it took, ns.
func (r *Recorder) Command(ctx context.Context, argv []string, traced bool) (*record.Trace, int64, error) {
	t, err := r.Commands(ctx, argv, 1, traced)
	switch {
	case err != nil:
		return nil, 0, err
	case traced:
		return t.Traces[0], t.NS[0], nil
	}
	return nil, t.NS[0], nil
}

// Together are starts that began at the same time.
type Together struct {
	// Traces are of some of them, drawn by chance, or none where they were not traced:
	// each holds all that the machine did meanwhile.
	Traces []*record.Trace
	// NS is what as many took, and All what passed until the last had ended, ns.
	NS  []int64
	All int64
}

// drawn is how many of those that began together are looked at.
const drawn = 2

// Commands runs a command line n times at once, traced or not, each from the request
// until it has ended. Their output goes nowhere; the end of what one complains of is
// in the error where it fails.
func (r *Recorder) Commands(ctx context.Context, argv []string, n int, traced bool) (*Together, error) {
	heads := make([]record.TraceHead, n)
	errs := make([]error, n)
	run := func() (record.TraceHead, error) {
		var ready, done sync.WaitGroup
		ready.Add(n)
		begin := make(chan struct{})
		for i := range n {
			done.Go(func() {
				// The thread that waits is the one whose wait is explained.
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				heads[i], errs[i] = once(ctx, argv, &ready, begin)
			})
		}
		ready.Wait()
		close(begin)
		done.Wait()
		whole := heads[0]
		for _, h := range heads {
			whole.From, whole.To = min(whole.From, h.From), max(whole.To, h.To)
		}
		for _, err := range errs { // they fail alike
			if err != nil {
				return whole, err
			}
		}
		return whole, nil
	}
	var t *record.Trace
	var whole record.TraceHead
	var err error
	if traced {
		if t, err = r.Record(run); err == nil {
			whole = t.TraceHead
		}
	} else {
		again := stamp.Quiet()
		whole, err = run()
		again()
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, err
	}
	out := &Together{All: whole.To - whole.From}
	for _, i := range rand.Perm(n)[:min(n, drawn)] {
		out.NS = append(out.NS, heads[i].To-heads[i].From)
		if traced {
			out.Traces = append(out.Traces, of(t, heads[i]))
		}
	}
	return out, nil
}

// once runs it, as soon as all are ready.
func once(ctx context.Context, argv []string, ready *sync.WaitGroup, begin <-chan struct{}) (record.TraceHead, error) {
	head := record.TraceHead{What: strings.Join(argv, " "), Until: string(record.Exit), Waiter: unix.Gettid()}
	said, err := memory("said")
	ready.Done()
	if err != nil {
		return head, err
	}
	defer said.Close()
	null, err := devnull.Open()
	if err != nil {
		return head, err
	}
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Stdin, c.Stdout, c.Stderr = null, null, said
	// Whoever interrupts us interrupts it once, through us, and all that it started.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return unix.Kill(-c.Process.Pid, unix.SIGKILL) }
	<-begin
	head.From = stamp.Now()
	err = c.Run()
	head.To = stamp.Now()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("%s: %w: %s", head.What, err, lastOf(said))
	}
	return head, err
}

// of is the trace of one start out of that of all.
func of(t *record.Trace, h record.TraceHead) *record.Trace {
	one := *t
	one.From, one.To, one.Waiter = h.From, h.To, h.Waiter
	one.Events = make([]record.TraceEvent, len(t.Events))
	for i, e := range t.Events {
		e.At += t.From - h.From
		one.Events[i] = e
	}
	return &one
}

// memory is a file that lies nowhere.
func memory(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("making a file in memory: %w", err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

// lastOf is the end of what a program complained of.
func lastOf(f *os.File) string {
	const most = 500
	b := make([]byte, most)
	end, err := f.Seek(0, 2)
	if err != nil {
		return ""
	}
	n, _ := f.ReadAt(b, max(0, end-most))
	return harmless.Text(strings.TrimSpace(string(b[:n])))
}
