package containerd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/defaults"
	"github.com/containerd/containerd/v2/pkg/protobuf/types"
	"github.com/containerd/errdefs"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/buildconfig"
	"plimsoll/internal/measure/engine/containerdclient"
	"plimsoll/internal/measure/engine/private"
	"plimsoll/internal/record"
)

const (
	usualSocket = "/run/containerd/containerd.sock"
	backLimit   = 2 * time.Second // of a connection to a daemon that is there
	// askLimit is of a question that takes milliseconds on a machine that is not busy.
	askLimit = engine.DetectLimit
)

// restarts is what helps where the daemon at a socket does not answer. The service is at
// the usual one.
func restarts(socket string) string {
	if strings.TrimPrefix(socket, "/var") == usualSocket {
		return "systemctl start containerd"
	}
	return "start the containerd that serves " + socket
}

// daemon is one containerd.
type daemon struct {
	*client.Client
	socket string
	runID  string // "" while only looking
	// namespace is where the run's containers are.
	namespace string
	own       *private.Daemon // nil for the user's
	given     *buildconfig.Configuration
	state     string // where the shims' runtimes keep their state
	lookPath  func(string) (string, error)
	ledger    engine.Ledger
}

// sockets are where a daemon may listen: the one that a build or the user names, else the
// usual one and further places.
func sockets(kit *engine.Kit) []string {
	if s := kit.Joined(daemonProgram); s != "" {
		return []string{s}
	}
	if a := strings.TrimPrefix(kit.Getenv("CONTAINERD_ADDRESS"), "unix://"); a != "" {
		return []string{a}
	}
	return append([]string{usualSocket}, engine.Places("containerd")...)
}

// connect finds the first daemon that answers and asks it for its version.
func connect(ctx context.Context, kit *engine.Kit) (*daemon, string, error) {
	var first error
	for _, socket := range sockets(kit) {
		err := adapter.Asleep(ctx, kit, "containerd", socket)
		if err == nil {
			var d *daemon
			var version string
			if d, version, err = dial(ctx, kit, socket); err == nil {
				return d, version, nil
			}
		}
		if first == nil || !errors.Is(err, os.ErrNotExist) {
			first = err
		}
	}
	return nil, "", first
}

// dial opens a connection, which then stays open, so that no trial has to.
func dial(ctx context.Context, kit *engine.Kit, socket string) (*daemon, string, error) {
	d := &daemon{socket: socket, runID: kit.RunID, namespace: Namespace(kit.RunID), state: stateRoot, lookPath: kit.LookPath, ledger: kit.Ledger}
	ctx, cancel := child.Within(ctx, askLimit)
	defer cancel()
	var err error
	d.Client, err = containerdclient.Dial(ctx, socket, askLimit, client.WithDefaultNamespace(d.namespace), client.WithDefaultRuntime(defaults.DefaultRuntime))
	if err != nil {
		return nil, "", d.wrong("connecting", err)
	}
	v, err := d.Version(ctx)
	if err != nil {
		_ = d.Close()
		return nil, "", d.wrong("asking for the version", err)
	}
	return d, strings.TrimPrefix(v.Version, "v"), nil
}

// ping sees to it that the connection is open: a daemon that has come back is
// found at once, and not when the client would try again by itself.
func (d *daemon) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, backLimit)
	defer cancel()
	if conn, ok := d.Conn().(*grpc.ClientConn); ok {
		conn.ResetConnectBackoff()
	}
	_, err := d.VersionService().Version(ctx, &types.Empty{}, grpc.WaitForReady(true))
	if err != nil && ctx.Err() != nil {
		err = status.Error(codes.Unavailable, err.Error())
	}
	return err
}

// gone says whether the daemon did not answer, or broke off in the middle.
func gone(err error) bool {
	var op *net.OpError
	return errdefs.IsUnavailable(err) || status.Code(err) == codes.Unavailable || errors.As(err, &op) ||
		strings.Contains(err.Error(), "error reading from server: EOF")
}

// class tells what an error of the client stands for.
func class(err error) record.Class {
	switch {
	case gone(err):
		return record.Unavailable
	case errdefs.IsNotImplemented(err):
		return record.Unsupported
	}
	return adapter.Classify(err.Error(), patterns)
}

// patterns are pieces of containerd's messages with what they stand for.
var patterns = []adapter.Pattern{
	{Text: "parent snapshot", Class: record.Unavailable}, // … does not exist: the image is gone
	{Text: "error reading from server: eof", Class: record.Unavailable},
	{Text: `image "localhost/plimsoll/`, Class: record.Unavailable}, // …: not found
}

// wrong makes an engine.Error of an error of the client. What is a participle
// and its object: "creating the container".
func (d *daemon) wrong(what string, err error) *engine.Error {
	if known, ok := errors.AsType[*engine.Error](err); ok {
		return known
	}
	e := &engine.Error{Class: class(err), Text: what, Err: err}
	switch {
	case errors.Is(err, os.ErrPermission):
		e.Class, e.Fix = record.Unavailable, "run plimsoll as root"
		e.Text = fmt.Sprintf("%s: you may not talk to containerd at %s", what, d.socket)
	case gone(err) && d.own != nil:
		e.Text, e.Err = what+": "+d.own.Gone(), nil
	case gone(err):
		e.Fix = restarts(d.socket)
		e.Text = fmt.Sprintf("%s: containerd at %s does not answer", what, d.socket)
	}
	return e
}

// failure is wrong as the outcome of a trial.
func (d *daemon) failure(what string, err error) *record.Failure {
	e := d.wrong(what, err)
	text, _ := engine.Reason(e)
	return &record.Failure{Class: e.Class, Text: text}
}
