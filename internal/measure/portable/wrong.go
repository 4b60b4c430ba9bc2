package portable

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strings"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// Advised is a reason with what would help, if anything is known to.
func Advised(reason, fix string) string {
	if fix == "" {
		return reason
	}
	return reason + "; try: " + fix
}

// wrong makes an engine.Error out of an error of the client. What is a participle and
// its object: "creating the container".
func (d *Daemon) wrong(what string, err error) *engine.Error {
	var known *engine.Error
	var op *net.OpError
	var cert *tls.CertificateVerificationError
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &cert):
		return d.At.untaken(cert)
	case errors.Is(err, context.DeadlineExceeded):
		return &engine.Error{Class: record.TimeOut, Text: what, Err: err}
	case cerrdefs.IsNotImplemented(err):
		return &engine.Error{Class: record.Unsupported, Text: what, Err: told(err)}
	case client.IsErrConnectionFailed(err), errors.As(err, &op), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &engine.Error{Class: record.Unavailable, Err: told(err), Fix: d.At.fix(),
			Text: fmt.Sprintf("%s: %s at %s (by %s) does not answer", what, d.At.Engine, d.At.Host, d.At.From)}
	}
	return &engine.Error{Class: record.EngineError, Text: what, Err: told(err)} // it may be a page of somebody's web server
}

// untaken is the error of a server whose certificate this machine doesn't take.
func (a Address) untaken(err *tls.CertificateVerificationError) *engine.Error {
	fix := a.fix()
	var invalid x509.CertificateInvalidError
	if errors.As(err, &invalid) && invalid.Reason == x509.Expired {
		fix = "date, on both machines: one of the clocks may be off"
	}
	return &engine.Error{Class: record.Unavailable, Err: told(err.Err), Fix: fix,
		Text: fmt.Sprintf("%s at %s (by %s) has a certificate that is not taken here", a.Engine, a.Host, a.From)}
}

// fix is a command that shows what an engine's own client makes of the address.
func (a Address) fix() string {
	if a.Engine == Podman {
		return "podman system connection list"
	}
	if a.Context != "" {
		return "docker --context " + a.Context + " version"
	}
	return "docker version"
}

// failedBy is a failure in words of our own.
func failedBy(class record.Class, format string, args ...any) *record.Failure {
	return &record.Failure{Class: class, Text: fmt.Sprintf(format, args...)}
}

// query is that of an address: one that a registry has signed is a key.
var query = regexp.MustCompile(`(https?://[^\s?"']+)\?[^\s"']*`)

// brief is what somebody said of a failure, fit for a record: the first line, bounded, and
// of the addresses in it no query. Registries and proxies answer with whole pages.
func brief(text string) string {
	const most = 600
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	text = query.ReplaceAllString(strings.TrimSpace(text), "$1?…")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// told is an error in brief and without its advice, which is for whoever wraps it to give;
// its kind stays.
func told(err error) error {
	if err == nil {
		return nil
	}
	return inBrief{err}
}

type inBrief struct{ error }

func (e inBrief) Error() string {
	text, _ := engine.Reason(e.error)
	return brief(text)
}

func (e inBrief) Unwrap() error { return e.error }

// lastLine is the last thing that was said, bounded.
func lastLine(b []byte) string {
	const most = 300
	lines := slices.DeleteFunc(strings.Split(string(b), "\n"), func(s string) bool { return strings.TrimSpace(s) == "" })
	if len(lines) == 0 {
		return ""
	}
	s := strings.TrimSpace(lines[len(lines)-1])
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
