package adapter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// Watched is a command that was run for what it does and not for a payload.
type Watched struct {
	Begin, End int64 // just before it was started, and when its end was seen
	// Lines are what it said on either stream, each stamped when it was read.
	Lines  []Line
	Client *record.Usage
}

// Line is one line of output.
type Line struct {
	At   int64 // CLOCK_MONOTONIC, ns
	Text string
}

// maxLines bounds what is kept of a command's output.
const maxLines = 2000

// Watch runs a command and stamps what it says: the parts of a pull are told by the lines between
// them. ctx ends it, with all that it has started. The error is for a command
// that could not be started or ended badly, with its own words.
func Watch(ctx context.Context, cmd child.Command) (Watched, error) {
	out := &lines{}
	cmd.Stdout, cmd.Stderr, cmd.Leaves = out, out, true // one writer, so one pipe and one order
	w := Watched{Begin: stamp.Now()}
	p, err := child.Start(ctx, cmd)
	if err != nil {
		return w, fmt.Errorf("starting %s: %w", cmd.Argv[0], err)
	}
	_, err = p.Wait()
	w.End = stamp.Now()
	w.Lines = out.all()
	if s := p.State(); s != nil {
		w.Client = &record.Usage{UserNS: int64(s.UserTime()), SystemNS: int64(s.SystemTime())}
		if u, ok := s.SysUsage().(*syscall.Rusage); ok {
			w.Client.MaxRSS = u.Maxrss << 10
		}
	}
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		return w, &saidError{Argv: cmd.Argv, Said: Words([]byte(w.Text())), Err: err}
	}
	return w, err
}

// saidError is a command that ended badly.
type saidError struct {
	Argv []string
	Said string // its own words
	Err  error
}

func (e *saidError) Error() string {
	return fmt.Sprintf("%s: %v: %s", strings.Join(e.Argv, " "), e.Err, e.Said)
}

func (e *saidError) Unwrap() error { return e.Err }

// Text is all lines.
func (w *Watched) Text() string {
	var b strings.Builder
	for _, l := range w.Lines {
		b.WriteString(l.Text + "\n")
	}
	return b.String()
}

// At is when the first line that holds the piece came, 0 where none did.
func (w *Watched) At(piece string) int64 {
	for _, l := range w.Lines {
		if strings.Contains(l.Text, piece) {
			return l.At
		}
	}
	return 0
}

// lines stamps lines as they come.
type lines struct {
	mu   sync.Mutex
	done []Line
	rest []byte
}

func (l *lines) Write(b []byte) (int, error) {
	at := stamp.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, b...)
	for {
		i := bytes.IndexAny(l.rest, "\n\r")
		if i < 0 {
			break
		}
		if i > 0 {
			l.add(Line{at, string(l.rest[:i])})
		}
		l.rest = l.rest[i+1:]
	}
	if len(l.rest) > 64<<10 {
		l.rest = nil
	}
	return len(b), nil
}

// add keeps the first lines and the last ones.
func (l *lines) add(x Line) {
	if len(l.done) == maxLines {
		l.done = append(l.done[:maxLines/2], l.done[maxLines/2+1:]...)
	}
	l.done = append(l.done, x)
}

func (l *lines) all() []Line {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.rest) > 0 {
		l.add(Line{stamp.Now(), string(l.rest)})
		l.rest = nil
	}
	return l.done
}

// PullFailure turns the error of a pull's command into the trial's failure.
func PullFailure(err error, own []Pattern) *record.Failure {
	f := &record.Failure{Class: record.EngineError, Text: err.Error()}
	var said *saidError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		f.Class = record.TimeOut
	case errors.As(err, &said):
		f.Class = Classify(said.Said, own)
	}
	return f
}
