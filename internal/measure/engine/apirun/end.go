package apirun

import (
	"errors"
	"io"

	"github.com/moby/moby/api/pkg/stdcopy"

	"plimsoll/internal/measure/engine/stamp"
)

// End is the end of a process, told by the engine.
type End struct {
	Told chan struct{} // closed when the engine's answer has come, or an error

	// Valid when Told is closed.
	At     int64 // when the answer reached us
	Status int
	Err    error // nobody tells any more
}

// NewEnd makes an end that is still to be told.
func NewEnd() *End { return &End{Told: make(chan struct{})} }

// Tell tells of it, once.
func (e *End) Tell(at int64, status int, err error) {
	e.At, e.Status, e.Err = at, status, err
	close(e.Told)
}

// Watch waits for the end beside whatever else is done, and stamps it when it
// reaches us.
func (l *Life) Watch(wait func() (status int, err error)) {
	l.End = NewEnd()
	go func(e *End) {
		status, err := wait()
		e.Tell(stamp.Now(), status, err)
	}(l.End)
}

// Drain tells of the end of an output.
type Drain struct {
	Done chan struct{} // closed at the end
	At   int64         // when that was; valid after Done
	Err  error         // what of the output was lost, and why; valid after Done
}

// Frames takes the output apart that comes by a connection in Docker's frames,
// until it ends. The payload writes its first line by one call, which the engine
// sends as one frame: the stamp is taken when the read that brought it has
// returned. Release ends the connection.
func (l *Life) Frames(conn io.Closer, r io.Reader) {
	d := &Drain{Done: make(chan struct{})}
	l.Drain = d
	go func() {
		defer close(d.Done)
		// A stream that breaks off shows in what came of it.
		_, _ = stdcopy.StdCopy(l.Stdout, l.Stderr, r)
		d.At = stamp.Now()
	}()
	l.conn = conn
}

// closed says whether a channel is.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

var errForgotten = errors.New("its holder has not ended it")
