package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/record"
)

// daemon is one Docker daemon.
type daemon struct {
	*client.Client
	flavour flavour
	host    string     // unix:///var/run/docker.sock
	own     *ownDaemon // nil for the user's
	runID   string     // whose containers it removes; "" is nobody's
}

// connect makes a client for the daemon that the user's environment names. It
// sends nothing yet.
//
// Connections stay open for as long as the client lives (the client's own
// default closes them after 30 s), so that no trial has to open one. The API
// version is negotiated down to the daemon's.
func (f flavour) connect(kit *engine.Kit, host string) (*daemon, error) {
	if !strings.HasPrefix(host, "unix://") {
		return nil, &engine.Error{Class: record.Unsupported,
			Text: fmt.Sprintf("%s is %q: a daemon beyond the network is measured by its API alone, since its clock and its processes are not this machine's", f.variable, host),
			Fix:  "plimsoll run --portable"}
	}
	opts := []client.Opt{
		client.WithHTTPClient(&http.Client{
			Transport:     &http.Transport{MaxIdleConns: 8, MaxIdleConnsPerHost: 8},
			CheckRedirect: client.CheckRedirect,
		}),
		client.WithHost(host),
		// Cloning a transport gives it a TLS configuration, which the client
		// would take for a wish.
		client.WithScheme("http"),
	}
	if v := kit.Getenv("DOCKER_API_VERSION"); v != "" {
		opts = append(opts, client.WithAPIVersion(v))
	}
	c, err := client.New(opts...)
	if err != nil {
		return nil, &engine.Error{Class: record.Unavailable,
			Text: fmt.Sprintf("making a client for the %s daemon at %s", f.name, host), Err: err}
	}
	return &daemon{Client: c, flavour: f, host: host, runID: kit.RunID}, nil
}

// user connects to the user's daemon, if it runs.
func (e *Engine) user(ctx context.Context, kit *engine.Kit) (*daemon, error) {
	host := e.host(kit)
	if err := adapter.Asleep(ctx, kit, e.title, strings.TrimPrefix(host, "unix://")); err != nil {
		return nil, err
	}
	return e.connect(kit, host)
}

// ping warms the connection and negotiates the version.
func (d *daemon) ping(ctx context.Context) error {
	_, err := d.Ping(ctx, client.PingOptions{NegotiateAPIVersion: true})
	return err
}

// class tells what an error of the client stands for.
func class(err error) record.Class {
	switch {
	case gone(err):
		return record.Unavailable
	case cerrdefs.IsNotImplemented(err):
		return record.Unsupported
	}
	return adapter.Classify(err.Error(), []adapter.Pattern{
		{Text: "unknown or invalid runtime name", Class: record.Unavailable},
		{Text: "unknown runtime specified", Class: record.Unavailable},
	})
}

// gone says whether the daemon did not answer, or broke off in the middle.
func gone(err error) bool {
	var op *net.OpError
	return client.IsErrConnectionFailed(err) || errors.As(err, &op) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// wrong makes an engine.Error out of an error of the client. What is a
// participle and its object: "creating the container".
func (d *daemon) wrong(what string, err error) *engine.Error {
	if known, ok := errors.AsType[*engine.Error](err); ok {
		return known
	}
	e := &engine.Error{Class: class(err), Text: what, Err: err}
	switch {
	case errors.Is(err, os.ErrPermission), strings.Contains(err.Error(), "permission denied while trying to connect"):
		e.Class = record.Unavailable
		e.Text = fmt.Sprintf("%s: you may not talk to the %s daemon at %s", what, d.flavour.name, d.host)
		e.Fix = "sudo usermod -aG " + d.flavour.group + " $USER, then log in again"
	case gone(err) && d.own != nil:
		e.Text, e.Err = what+": "+d.own.Gone(), nil
	case gone(err):
		e.Text = fmt.Sprintf("%s: the %s daemon at %s does not answer", what, d.flavour.name, d.host)
		e.Fix = d.flavour.restarts(d.host)
		if client.IsErrConnectionFailed(err) && !errors.Is(err, os.ErrNotExist) {
			e.Err = nil // it says the same in other words
		}
	}
	return e
}

// failure is wrong as the outcome of a trial.
func (d *daemon) failure(what string, err error) *record.Failure {
	return engine.FailureOf(d.wrong(what, err))
}
