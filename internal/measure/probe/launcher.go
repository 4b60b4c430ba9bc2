package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"plimsoll/internal/common/devnull"
)

// Launcher is one long-lived launcher process. It runs one job at a time and
// is safe for use by one goroutine at a time.
type Launcher struct {
	cmd      *exec.Cmd
	env      []string // added to every command's
	requests *os.File // write end
	answers  *os.File // read end
	done     chan struct{}
	waitErr  error // valid once done is closed

	write sync.Mutex // over requests: an abort may come from another goroutine
	seq   uint64
	frame []byte // the request, and then the answer; kept from job to job
	head  [headerSize]byte
	dead  error
	close sync.Once
}

// launchVerb is what the probe is told to be a launcher.
const launchVerb = "launch"

// Launches says whether a command line is a launcher's.
func Launches(argv []string) bool {
	return len(argv) > 1 && filepath.Base(argv[0]) == FileName && argv[1] == launchVerb
}

// How long we are patient with the launcher itself. These bound what can only
// go wrong by a fault of ours or a kernel that is stuck.
const (
	startPatience = 10 * time.Second
	closePatience = 5 * time.Second
	runPatience   = 10 * time.Second
)

// keepFrame is the largest buffer that is kept from job to job, in bytes.
const keepFrame = 1 << 20

// Start starts a launcher from the probe at path. ctx bounds the start only.
func Start(ctx context.Context, path string, opts Options) (*Launcher, error) {
	l, err := start(ctx, path, opts)
	if err != nil {
		return nil, fmt.Errorf("starting the launcher %s: %w", path, err)
	}
	return l, nil
}

func start(ctx context.Context, path string, opts Options) (*Launcher, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	null, err := devnull.Open()
	if err != nil {
		return nil, err
	}
	requestsIn, requestsOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	answersIn, answersOut, err := os.Pipe()
	if err != nil {
		requestsIn.Close()
		requestsOut.Close()
		return nil, err
	}
	args := []string{launchVerb}
	for _, procs := range opts.Cgroups {
		args = append(args, "--cgroup", procs)
	}
	l := &Launcher{cmd: exec.Command(path, args...), env: opts.Env, requests: requestsOut, answers: answersIn, done: make(chan struct{})}
	l.cmd.Stdin, l.cmd.Stdout, l.cmd.Stderr = requestsIn, answersOut, null // which commands get, too
	l.cmd.Env = []string{}
	// A session of its own: no terminal, and a Ctrl-C is for Plimsoll, not for
	// the trial in flight.
	l.cmd.SysProcAttr = ownSession()
	err = l.fork(opts.On)
	requestsIn.Close()
	answersOut.Close()
	if err != nil {
		requestsOut.Close()
		answersIn.Close()
		return nil, err
	}
	if err := l.hello(ctx); err != nil {
		_ = l.Close() // err says it all
		return nil, err
	}
	return l, nil
}

// fork starts the process from a thread that lives as long as it does: the
// launcher asks for a signal at the death of its parent, and to the kernel
// the parent is the thread (prctl(2), PR_SET_PDEATHSIG).
func (l *Launcher) fork(on func(func() error) error) error {
	started := make(chan error)
	go func() {
		if on == nil {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			on = func(f func() error) error { return f() }
		}
		err := on(l.cmd.Start)
		started <- err
		if err != nil {
			return
		}
		l.waitErr = l.cmd.Wait()
		close(l.done)
	}()
	return <-started
}

func (l *Launcher) hello(ctx context.Context) error {
	deadline := time.Now().Add(startPatience)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	defer context.AfterFunc(ctx, func() { _ = l.answers.SetReadDeadline(time.Unix(1, 0)) })()
	h, _, err := l.receive(deadline)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil && h.kind != frameHello {
		err = errFrame
	}
	return err
}

// PID is the launcher's process id.
func (l *Launcher) PID() int { return l.cmd.Process.Pid }

// Run carries a job out. The error is for the launcher's own failure; what
// went wrong with a command stands in its result. When ctx ends, everything
// of the job is killed, the commands marked Always are run, and Run returns
// ctx's error; the launcher can still be used. After any other error of the
// launcher it can not, and each further Run says so.
func (l *Launcher) Run(ctx context.Context, job Job) (*JobResult, error) {
	if l.dead != nil {
		return nil, fmt.Errorf("running a job: %w", l.dead)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	job.env = l.env
	l.seq++
	frame, err := appendJob(l.frame[:0], &job, l.seq)
	if err != nil {
		return nil, fmt.Errorf("running a job: %w", err)
	}
	l.frame = frame
	res, aborted, err := l.exchange(ctx, &job)
	if err != nil {
		l.dead = l.death(err)
		return nil, fmt.Errorf("running a job: %w", l.dead)
	}
	if aborted {
		return nil, ctx.Err()
	}
	return res, nil
}

func (l *Launcher) exchange(ctx context.Context, job *Job) (*JobResult, bool, error) {
	if err := l.send(l.frame); err != nil {
		return nil, false, err
	}
	if ctx.Done() != nil {
		seq := l.seq
		defer context.AfterFunc(ctx, func() {
			b := appendHeader(nil, frameAbort, seq)
			finishFrame(b)
			_ = l.send(b) // where this fails, so does the read
		})()
	}
	limit, cleanup, _ := job.limits()
	h, body, err := l.receive(time.Now().Add(limit + cleanup + runPatience))
	if err != nil {
		return nil, false, err
	}
	if h.kind != frameResult || h.seq != l.seq {
		return nil, false, errFrame
	}
	res, aborted, err := decodeResult(body)
	if err == nil && len(res.Commands) != len(job.Commands) {
		err = errFrame
	}
	return res, aborted, err
}

func (l *Launcher) send(frame []byte) error {
	l.write.Lock()
	defer l.write.Unlock()
	_, err := l.requests.Write(frame)
	return err
}

// receive reads one frame. The body is valid until the next call.
func (l *Launcher) receive(deadline time.Time) (header, []byte, error) {
	if err := l.answers.SetReadDeadline(deadline); err != nil {
		return header{}, nil, err
	}
	if _, err := io.ReadFull(l.answers, l.head[:]); err != nil {
		return header{}, nil, err
	}
	h, err := decodeHeader(l.head[:])
	if err != nil {
		return h, nil, err
	}
	var body []byte
	if n := int(h.length); n <= cap(l.frame) {
		body = l.frame[:n]
	} else {
		body = make([]byte, n)
		if n <= keepFrame {
			l.frame = body
		}
	}
	if _, err := io.ReadFull(l.answers, body); err != nil {
		return h, nil, err
	}
	if h.kind == frameError {
		r := &reader{b: body}
		return h, nil, errors.New(r.text())
	}
	return h, body, nil
}

// death makes the reason why the launcher can't be used any more, and sees to
// it that it has ended.
func (l *Launcher) death(err error) error {
	_ = l.Close()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.EPIPE) {
		<-l.done
		return fmt.Errorf("the launcher (pid %d) has died: %v; start another one", l.PID(), l.cmd.ProcessState)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("the launcher (pid %d) did not answer in time and was ended; start another one", l.PID())
	}
	return err
}

// Close ends the launcher and whatever it still holds, strays of earlier jobs
// too. It does not return before the launcher has ended. It is safe to call
// twice.
func (l *Launcher) Close() error {
	var err error
	l.close.Do(func() {
		l.requests.Close() // this is what tells it
		select {
		case <-l.done:
		case <-time.After(closePatience):
			_ = l.cmd.Process.Kill() // where it has just ended
			<-l.done
		}
		l.answers.Close()
		if l.dead == nil {
			l.dead = errors.New("the launcher was closed")
			if l.waitErr != nil {
				err = fmt.Errorf("ending the launcher (pid %d): %w", l.PID(), l.waitErr)
			}
		}
	})
	return err
}
