// Package child is the one door by which Plimsoll starts other programs.
//
// It is opinionated: a program on somebody's PATH may hang, may be a wrapper
// whose child holds the pipe, and may print without end. So every program gets
// a session of its own (no terminal to ask at, and a Ctrl-C is for us), is
// ended with everything in it when its time is over, is listened to in bounds,
// and its error says that it hung, for how long and what to do. What is ended
// is a process group that we have made and whose leader we have not yet
// reaped, so that its number can't be anybody else's.
//
// Why it is so: docs/decisions/ownership.md.
package child

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"
)

// maxOutput is how much of a program's standard output is kept, bytes, where a
// command does not say. What goes beyond is an error.
const maxOutput = 16 << 20

// Command is a program with everything that it is given.
type Command struct {
	Argv []string // the program, by its path or found on our PATH, and its arguments
	// Path, where given, is the program, and Argv[0] only what it is called.
	Path string
	Env  []string // all of it; nil is our own
	Dir  string
	// Stdin is empty where nil.
	Stdin io.Reader
	// Stdout and Stderr, where given, take what it prints, instead of Output.
	// One and the same gets both streams in the order in which they were written.
	Stdout, Stderr io.Writer
	// Together puts both streams into Output.Stdout, in their order.
	Together bool
	// Limit is how long it may take, before Stretch; 0 leaves it to the context alone.
	Limit time.Duration
	// Grace, where given, is between SIGTERM for the program and SIGKILL for
	// its whole group; without it SIGKILL comes at once.
	Grace time.Duration
	// Leaves: what still holds the pipes a moment after the program has ended
	// well is meant to stay, as a monitor of containers is.
	Leaves bool
	// Outlives: it goes on to its own end where we are killed. It holds the reading end
	// of its pipes itself, so that printing does not end it.
	Outlives bool
	// User is who it is run as, ourselves where nil.
	User *syscall.Credential
	// Attr are further attributes, such as namespaces. Session and user are ours.
	Attr *syscall.SysProcAttr
}

// Output is what a program has printed.
type Output struct {
	Stdout []byte
	Stderr []byte // its end, where it is long
}

// Run runs a program to its end. An end with another status than 0 is an
// *exec.ExitError, one that we brought about a *HungError, or the context's
// error where that was cancelled. The output is what there was, in each case.
func Run(ctx context.Context, c Command) (Output, error) {
	p, err := Start(ctx, c)
	if err != nil {
		return Output{}, err
	}
	return p.Wait()
}

// HungError is a program that was ended at its time limit. It is a
// context.DeadlineExceeded.
type HungError struct {
	Argv  []string
	After time.Duration
	Said  string // the last that it said on standard error
	// Stuck: it did not even end when it was killed, or may not be killed by us.
	Stuck bool
}

func (e *HungError) Error() string {
	s := fmt.Sprintf("`%s` hung: it had not ended after %v", shown(e.Argv), e.After)
	if e.Stuck {
		s += ", and can't be killed"
	} else {
		s += " and was killed with what it had started"
	}
	if e.Said != "" {
		s += ", having said: " + e.Said
	}
	return s + "; run it by hand to see what it waits for"
}

func (*HungError) Unwrap() error { return context.DeadlineExceeded }

// broken is the error of a program that was ended because its context was over.
func broken(ctx context.Context, argv []string, after time.Duration, said string, stuck bool) error {
	after = after.Round(100 * time.Millisecond)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &HungError{Argv: argv, After: after, Said: said, Stuck: stuck}
	}
	return fmt.Errorf("`%s` was broken off after %v: %w", shown(argv), after, context.Cause(ctx))
}

// shown is a command line fit for a message.
func shown(argv []string) string {
	const most = 160
	s := strings.Join(argv, " ")
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return s
}
