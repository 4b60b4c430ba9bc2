package fleet

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/sshdiag"
)

// Error is why a host can't be measured, in one sentence.
type Error struct {
	Host string
	What string
	// Advice is what may help; empty where nothing is known.
	Advice string
	// Lost: it could not be reached, or the connection is gone: it may be there
	// again later.
	Lost bool
	Err  error
}

func (e *Error) Error() string { return e.Host + ": " + e.What }

func (e *Error) Unwrap() error { return e.Err }

// failed makes a sentence of a command that ssh has failed to run.
func (h *Host) failed(doing string, out child.Output, err error) error {
	e := &Error{Host: h.Name, Err: err}
	said := string(out.Stderr)
	var exit *exec.ExitError
	var hung *child.HungError
	switch {
	case errors.As(err, &hung):
		e.What, e.Lost = doing+": it has not answered in time", true
		return e
	case !errors.As(err, &exit):
		e.What = doing + ": " + err.Error()
		return e
	case exit.ExitCode() == sshdiag.Failed:
		if c, ok := sshdiag.Of(said, h.Host, h.Port); ok {
			e.What, e.Advice, e.Lost = c.What, c.Advice, c.Lost
			return e
		}
		e.What, e.Lost = doing+": ssh failed", true
	default:
		e.What = fmt.Sprintf("%s failed there with status %d", doing, exit.ExitCode())
	}
	if line := lastLine(said); line != "" {
		e.What += ": " + line
	}
	return e
}

// lastLine is the last thing that was said, fit for a message.
func lastLine(said string) string {
	said = strings.TrimSpace(said)
	return harmless.Text(strings.TrimSpace(said[strings.LastIndexByte(said, '\n')+1:]))
}

// IsLost says whether an error is of a connection, and not of what is there.
func IsLost(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Lost
}
