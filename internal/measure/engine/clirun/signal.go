package clirun

import (
	"fmt"
	"syscall"

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
