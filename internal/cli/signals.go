package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// notify gives two contexts: the first ends at the first SIGINT, SIGTERM or
// SIGHUP (finish the trial in flight, then clean up), the second at the second
// SIGINT or SIGTERM (break the trial off, then clean up). A lost session sends
// SIGHUP more than once, and with a SIGTERM beside it: it is never the second.
// Where it is ignored, as below nohup, it stays so.
func notify() (first, second context.Context, stop func()) {
	first, endFirst := context.WithCancelCause(context.Background())
	second, endSecond := context.WithCancel(context.Background())
	ch := make(chan os.Signal, 4)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(ch, syscall.SIGHUP)
	}
	outlivePipes()
	done := make(chan struct{})
	go func() {
		for n := 0; ; {
			select {
			case sig := <-ch:
				if n == 0 {
					endFirst(signalled{sig})
				} else if sig != syscall.SIGHUP {
					endSecond()
				}
				if sig != syscall.SIGHUP {
					n++
				}
			case <-done:
				return
			}
		}
	}()
	return first, second, func() {
		signal.Stop(ch)
		close(done)
		endFirst(nil)
		endSecond()
	}
}

// signalled is why the first context has ended.
type signalled struct{ os.Signal }

func (s signalled) Error() string { return s.Signal.String() }

// outlivePipes lets a write to a standard output or error that nobody reads any
// more fail, instead of ending the program where it stands: see os/signal, SIGPIPE.
// The signal itself says nothing, as any broken connection sends it. It is for
// the rest of the program, which has yet to say how it ended; ignoring the signal
// would be handed on to every command that is started.
func outlivePipes() {
	if !signal.Ignored(syscall.SIGPIPE) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	}
}
