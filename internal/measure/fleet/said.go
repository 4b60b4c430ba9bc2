package fleet

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/measure/child"
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

// sshFailed is ssh's status where it is ssh itself that has failed.
const sshFailed = 255

// complaints are what ssh says when it can't connect. Source: OpenSSH 9.2,
// ssh.c, sshconnect.c, sshconnect2.c, clientloop.c.
var complaints = []struct {
	has, what, advice string
	lost              bool
}{
	{"REMOTE HOST IDENTIFICATION HAS CHANGED", "its host key is not the one that known_hosts has", "if the host was set up anew: ssh-keygen -R HOST, then log in by ssh once and compare the fingerprint", false},
	{"Host key verification failed", "its host key is unknown", "log in by ssh once and compare the fingerprint; Plimsoll accepts no key by itself", false},
	{"Permission denied", "ssh may not log in as this user with any key it has", "see that `ssh -o BatchMode=yes` logs in there: a key in the agent, or one in the configuration", false},
	{"Too many authentication failures", "the agent has too many keys for this host", "name the right one by IdentityFile and IdentitiesOnly in ssh's configuration", false},
	{"Could not resolve hostname", "there is no host of this name", "", false},
	{"Connection refused", "nothing listens on its ssh port", "", true},
	{"timed out", "it does not answer", "", true},
	{"No route to host", "there is no route to it", "", true},
	{"Network is unreachable", "its network can't be reached", "", true},
	{"not responding", "the connection is lost", "", true},
	{"closed by remote host", "it has closed the connection", "", true},
	{"Connection reset", "it has broken off the connection", "", true},
	{"Connection closed", "it has closed the connection", "", true},
	{"Broken pipe", "the connection is lost", "", true},
}

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
	case exit.ExitCode() == sshFailed:
		for _, c := range complaints {
			if strings.Contains(said, c.has) {
				e.What, e.Advice, e.Lost = c.what, strings.ReplaceAll(c.advice, "HOST", h.Host), c.lost
				return e
			}
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
