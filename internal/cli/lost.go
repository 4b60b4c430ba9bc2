package cli

import (
	"context"
	"errors"
	"io"
	"syscall"
)

// outlet is standard output or error of a command that must clean up behind
// it. Where its reader is gone, nobody is there any more to wait for the rest.
type outlet struct {
	io.Writer
	lost func()
}

func (o outlet) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if isLost(err) {
		o.lost()
	}
	return n, err
}

// errLost is why the first context of interrupts ends where an output is lost.
var errLost = errors.New("nobody reads the output any more")

// isLost says that nobody can read any more what is written: a pipe without a
// reader, or a terminal that is gone.
func isLost(err error) bool { return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.EIO) }

// interrupts gives what Signals does; the first context ends, too, once an
// output of the world that it gives is lost.
func (w World) interrupts() (heeding World, first, second context.Context, stop func()) {
	first, second = context.Background(), context.Background()
	deaf := func() {}
	if w.Signals != nil {
		first, second, deaf = w.Signals()
	}
	first, end := context.WithCancelCause(first)
	lost := func() { end(errLost) }
	w.Stdout, w.Stderr = outlet{w.Stdout, lost}, outlet{w.Stderr, lost}
	return w, first, second, func() {
		end(nil)
		deaf()
	}
}
