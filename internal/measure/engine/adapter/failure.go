package adapter

import (
	"errors"
	"fmt"
	"syscall"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// SignalFailure is the failure of a payload that ended by a signal, by the exit
// status that an engine with an API gives (128 and the signal's number); one
// that was stopped on purpose may end so. An exit status is reported, not
// judged: only the caller knows which one was asked for.
func SignalFailure(status int, stopped bool) *record.Failure {
	if status <= 128 || status > 128+64 {
		return nil
	}
	sig := syscall.Signal(status - 128)
	if stopped && (sig == syscall.SIGKILL || sig == syscall.SIGTERM) {
		return nil
	}
	return &record.Failure{Class: record.Crash, Text: fmt.Sprintf("the payload ended by signal %d (%v)", int(sig), sig)}
}

// OutOfMemory is the failure of a payload that the kernel killed.
func OutOfMemory() *record.Failure {
	return &record.Failure{Class: record.OutOfMemory, Text: "the kernel killed the payload for want of memory"}
}

// Unclean says in a result that something of a container was left, or could not be
// looked at; nil is nothing. What has failed before stays what has failed.
func Unclean(res *engine.Result, err error) {
	switch {
	case err == nil:
	case res.Failure != nil:
		res.Failure.Text += "; " + err.Error()
	default:
		res.Failure = &record.Failure{Class: record.UncleanEnd, Text: err.Error()}
	}
}

// Refused is the result of a trial that could not begin, of the error's class
// or else our own fault.
func Refused(err error) engine.Result {
	f := &record.Failure{Class: record.HarnessError, Text: err.Error()}
	if e, ok := errors.AsType[*engine.Error](err); ok {
		f.Class = e.Class
	}
	return engine.Result{Failure: f}
}

// Unsupported is an error for what the engine can't do.
func Unsupported(text string) error { return &engine.Error{Class: record.Unsupported, Text: text} }
