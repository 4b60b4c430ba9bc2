package child

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/devnull"
)

const (
	// holdDelay is how long the pipes may be held by others once the program
	// has ended.
	holdDelay = time.Second
	// killDelay is how long a killed group may take to be gone, and its last
	// words to be read.
	killDelay = 2 * time.Second
)

// Process is a program that was started.
type Process struct {
	PID int // also its process group's and its session's

	cmd     *exec.Cmd
	command Command
	ctx     context.Context
	cancel  context.CancelFunc
	began   time.Time
	pipes   []*os.File // our ends
	readers sync.WaitGroup
	stdout  *head
	stderr  *tail

	mu     sync.Mutex
	reaped bool

	done chan struct{}
	out  Output
	err  error
}

// Start starts a program, which is ended with ctx or at its limit.
func Start(ctx context.Context, c Command) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", shown(c.Argv), err)
	}
	p := &Process{command: c, began: time.Now(), stdout: &head{room: maxOutput}, stderr: &tail{}, done: make(chan struct{})}
	p.cmd = exec.Command(cmp.Or(c.Path, c.Argv[0]), c.Argv[1:]...)
	p.cmd.Args[0] = c.Argv[0]
	p.cmd.Env, p.cmd.Dir, p.cmd.Stdin = c.Env, c.Dir, c.Stdin
	p.cmd.WaitDelay = killDelay // of the copying of Stdin; its outputs are pipes of ours
	if c.Stdin == nil {
		null, err := devnull.Open()
		if err != nil {
			return nil, err
		}
		p.cmd.Stdin = null
	}
	attr := syscall.SysProcAttr{}
	if c.Attr != nil {
		attr = *c.Attr
	}
	attr.Setsid, attr.Setpgid, attr.Credential = true, false, c.User
	p.cmd.SysProcAttr = &attr
	theirs, err := p.plumb()
	if err == nil {
		err = p.cmd.Start()
	}
	for _, f := range theirs {
		_ = f.Close() // the child has its own
	}
	if err != nil {
		p.closePipes()
		p.readers.Wait()
		return nil, err
	}
	p.PID = p.cmd.Process.Pid
	if c.Limit > 0 {
		p.ctx, p.cancel = context.WithTimeout(ctx, Stretch(c.Limit))
	} else {
		p.ctx, p.cancel = context.WithCancel(ctx)
	}
	go p.supervise()
	return p, nil
}

// plumb makes the pipes and starts reading them; it gives the child's ends.
func (p *Process) plumb() (theirs []*os.File, err error) {
	c := p.command
	var out, errs io.Writer = p.stdout, p.stderr
	if c.Stdout != nil {
		out = c.Stdout
	}
	if c.Stderr != nil {
		errs = c.Stderr
	}
	pipe := func(to io.Writer) (*os.File, error) {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		theirs, p.pipes = append(theirs, w), append(p.pipes, r)
		if c.Outlives { // opened anew: a child's end blocks, and ours must not
			held, err := again(r)
			if err != nil {
				return nil, err
			}
			theirs, p.cmd.ExtraFiles = append(theirs, held), append(p.cmd.ExtraFiles, held)
		}
		p.readers.Go(func() {
			if _, err := io.Copy(to, r); err != nil {
				_, _ = io.Copy(io.Discard, r) // else it would wait for room in the pipe
			}
		})
		return w, nil
	}
	w, err := pipe(out)
	if err != nil {
		return theirs, err
	}
	p.cmd.Stdout, p.cmd.Stderr = w, w
	if c.Together || c.Stdout != nil && c.Stdout == c.Stderr {
		return theirs, nil
	}
	if w, err = pipe(errs); err == nil {
		p.cmd.Stderr = w
	}
	return theirs, err
}

// again opens the reading end of a pipe once more.
func again(r *os.File) (held *os.File, err error) {
	raw, err := r.SyscallConn()
	if err != nil {
		return nil, err
	}
	cerr := raw.Control(func(fd uintptr) {
		held, err = os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", fd), os.O_RDONLY|unix.O_NONBLOCK, 0)
	})
	return held, errors.Join(cerr, err)
}

// supervise sees the program to its end.
func (p *Process) supervise() {
	defer close(p.done)
	defer p.cancel()
	ended := make(chan struct{})
	go func() {
		awaitEnd(p.PID)
		close(ended)
	}()
	ours := false // we ended it
	select {
	case <-ended:
	case <-p.ctx.Done():
		ours = true
		p.end(ended)
	}
	read := make(chan struct{})
	go func() {
		p.readers.Wait()
		close(read)
	}()
	if !ours && !waitFor(p.ctx, read, holdDelay) && !p.command.Leaves {
		p.killGroup()
	}
	if !closed(read) && (ours || !p.command.Leaves) {
		waitFor(context.Background(), read, holdDelay) // the last words of those that were killed
	}
	p.closePipes()
	<-read
	stuck := !closed(ended)
	if stuck {
		go func() {
			<-ended
			_ = p.reap() // nobody waits for it any more
		}()
	} else {
		p.err = p.reap()
	}
	p.out = Output{Stdout: p.stdout.kept, Stderr: p.stderr.bytes()}
	switch {
	case ours:
		p.err = broken(p.ctx, p.command.Argv, time.Since(p.began), p.stderr.last(), stuck)
	case p.err == nil && p.stdout.over:
		p.err = fmt.Errorf("`%s` printed more than %d MiB", shown(p.command.Argv), maxOutput>>20)
	}
}

// end ends the program: asks it where it is given a grace, then kills its group.
func (p *Process) end(ended <-chan struct{}) {
	if p.command.Grace > 0 {
		_ = p.Signal(syscall.SIGTERM) // it may have ended
		waitFor(context.Background(), ended, p.command.Grace)
	}
	p.killGroup()
	waitFor(context.Background(), ended, killDelay)
}

// killGroup kills every process of the program's group. Its number is ours
// until the program is reaped, ended or not.
func (p *Process) killGroup() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		_ = syscall.Kill(-p.PID, syscall.SIGKILL) // ESRCH: all have ended; EPERM: none is ours to kill, as is seen by its not ending
	}
}

// reap takes the program's status.
func (p *Process) reap() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reaped = true
	err := p.cmd.Wait()
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil // it ended well; what it was to read was not at its end
	}
	return err
}

// awaitEnd returns when a child of ours has ended, and does not reap it.
func awaitEnd(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

func (p *Process) closePipes() {
	for _, f := range p.pipes {
		_ = f.Close() // only read
	}
}

// Wait gives what Run does.
func (p *Process) Wait() (Output, error) {
	<-p.done
	return p.out, p.err
}

// Ended is closed when the program has ended and is reaped.
func (p *Process) Ended() <-chan struct{} { return p.done }

// State is of a program that has ended; nil where it could not be killed.
func (p *Process) State() *os.ProcessState {
	<-p.done
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		return nil
	}
	return p.cmd.ProcessState
}

// Signal sends a signal to the program alone, as long as it is there.
func (p *Process) Signal(sig os.Signal) error { return p.cmd.Process.Signal(sig) }

// End ends the program as its limit would, and waits for it.
func (p *Process) End() {
	p.cancel()
	<-p.done
}

// waitFor waits for a channel, for at most so long and as long as ctx, and
// says whether it was closed.
func waitFor(ctx context.Context, ch <-chan struct{}, most time.Duration) bool {
	t := time.NewTimer(most)
	defer t.Stop()
	select {
	case <-ch:
		return true
	case <-ctx.Done():
	case <-t.C:
	}
	return closed(ch)
}

func closed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}
