package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/child"
)

// guard is a process that outlives us where we are killed, and then puts back what we
// have changed of the kernel. It sleeps until the end of a pipe that only we write to:
// the kernel closes that with us, however we end.
type guard struct {
	process *child.Process
	pipe    *os.File // closed on exec, so no program that we start keeps it open
}

// guardName is what a guard is called, by which it also knows what it is.
const guardName = "plimsoll-guard"

// guardPatience is how long a guard may take to be there, and to end.
const guardPatience = 10 * time.Second

// startGuard starts the guard of a note, and waits until no signal but SIGKILL ends it.
func (s State) startGuard(by string) (*guard, error) {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("a pipe for it: %w", err)
	}
	defer theirs.Close()
	there, say := context.WithCancel(context.Background())
	defer say()
	p, err := child.Start(context.Background(), child.Command{
		// By this path it is our program, even where that has been replaced since.
		Path: "/proc/self/exe", Argv: []string{guardName, s.Dir, by}, Dir: "/", Stdin: theirs, Stdout: onWrite(say),
	})
	if err != nil {
		return nil, errors.Join(err, ours.Close())
	}
	g := &guard{p, ours}
	select {
	case <-there.Done():
		return g, nil
	case <-p.Ended():
		out, err := p.Wait()
		return nil, errors.Join(fmt.Errorf("it has ended at once (%w): %s", err, strings.TrimSpace(string(out.Stderr))), ours.Close())
	case <-time.After(guardPatience):
		p.End()
		return nil, errors.Join(fmt.Errorf("it was not there after %v", guardPatience), ours.Close())
	}
}

// dismiss ends the guard, when all has been put back. It returns when it has ended, so
// that the audit does not see it.
func (g *guard) dismiss() error {
	if g == nil {
		return nil
	}
	if err := g.pipe.Close(); err != nil {
		return err
	}
	select {
	case <-g.process.Ended(): // had it been killed, nothing would be lost any more
		return nil
	case <-time.After(guardPatience):
		g.process.End()
		return fmt.Errorf("the process that was to put back kernel settings had not ended after %v, and was killed", guardPatience)
	}
}

// onWrite is called when something is written, whatever that is.
type onWrite func()

func (f onWrite) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}

// Whatever program this package is in is one that can be started anew as a guard, that of
// a test too: there is no command that it would have to know.
func init() {
	if len(os.Args) == 3 && os.Args[0] == guardName {
		os.Exit(stand(State{os.Args[1]}, os.Args[2]))
	}
}

// stand is what a guard does. It must not disturb what is measured: it has no timer, but
// that of Go's own watcher, and nothing to collect.
func stand(s State, by string) int {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	debug.SetGCPercent(-1)
	runtime.GOMAXPROCS(1)
	_ = os.WriteFile("/proc/self/comm", []byte(guardName), 0) // for who looks: it would be called exe
	_ = unix.SetNonblock(0, false)                            // it is so already, unless Go changes its mind
	_, _ = os.Stdout.WriteString("here\n")                    // where nobody listens any more, the pipe has ended, too
	for b := make([]byte, 1); ; {
		n, err := unix.Read(0, b)
		switch {
		case errors.Is(err, unix.EINTR), n > 0:
		case err != nil:
			return 1
		default:
			if s.restoreKernel(by) != nil { // the note stays, and clean says why
				return 1
			}
			return 0
		}
	}
}
