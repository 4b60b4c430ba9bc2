package cli

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"sync"
	"syscall"
)

// answer is standard output, which keeps why something of it could not be written. Who
// prints may pass over that, as the library does that prints help: Main does not.
type answer struct {
	io.Writer
	mu   sync.Mutex
	lost error // the first one; nil: all was written, or its reader had enough of it
}

func (a *answer) Write(b []byte) (int, error) {
	n, err := a.Writer.Write(b)
	if err != nil && !errors.Is(err, syscall.EPIPE) { // head has what it wanted
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.lost == nil {
			a.lost = err
		}
	}
	return n, err
}

// whole is how the command ended: an answer that is not all there is a failure, which
// one line tells, however often it was noticed. What else went wrong is told before it.
// A run that was interrupted stays one, as it can be resumed.
func (a *answer) whole(err error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lost == nil {
		return err
	}
	out := &exitError{status: Failed}
	if e, ok := errors.AsType[*exitError](err); ok {
		if out.hint = e.hint; e.status == Interrupted {
			out.status = Interrupted
		}
	}
	var lines []string
	if err != nil && !errors.Is(err, errSaid) {
		for line := range strings.SplitSeq(strings.TrimRight(err.Error(), "\n"), "\n") {
			if !strings.Contains(line, a.lost.Error()) {
				lines = append(lines, line)
			}
		}
	}
	why := a.lost
	if p, ok := errors.AsType[*fs.PathError](why); ok {
		why = p.Err
	}
	out.err = errors.New(strings.Join(append(lines, "the output could not be written: "+why.Error()), "\n"))
	return out
}
