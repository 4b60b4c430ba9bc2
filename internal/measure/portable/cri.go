package portable

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// CRI is the Kubernetes Container Runtime Interface of whoever answers.
const CRI = "cri"

// criVariable is what crictl and others read the endpoint from.
const criVariable = "CONTAINER_RUNTIME_ENDPOINT"

// cri finds the server's endpoint: a Unix socket, its own or one that ssh or socat
// forwards, or an address of TCP.
func (s Surroundings) cri() (Address, error) {
	host := s.Getenv(criVariable)
	switch {
	case host == "" && s.System == "windows":
		return Address{Engine: CRI}, unavailable(nil, "forward a server's socket, and set "+criVariable+"=tcp://localhost:PORT", "%s is not set, and on Windows there is no usual place of a server of Linux", criVariable)
	case host == "":
		return s.usualCRI("/run/containerd/containerd.sock", "/run/crio/crio.sock")
	case strings.HasPrefix(host, "/"):
		host = "unix://" + host
	case !strings.HasPrefix(host, "unix://") && !strings.HasPrefix(host, "tcp://"):
		return Address{Engine: CRI}, unavailable(nil, forwardFix, "%s is %q: expected unix:///PATH or tcp://HOST:PORT", criVariable, host)
	}
	return Address{Engine: CRI, Host: host, From: criVariable}, nil
}

// forwardFix is how a server of another machine is reached.
const forwardFix = "ssh -N -L /tmp/cri.sock:/run/containerd/containerd.sock HOST, and " + criVariable + "=unix:///tmp/cri.sock"

// usualCRI looks for a server's socket where one usually is.
func (s Surroundings) usualCRI(sockets ...string) (Address, error) {
	a := s.usual(CRI, sockets, nil)
	if _, err := os.Stat(strings.TrimPrefix(a.Host, "unix://")); errors.Is(err, fs.ErrNotExist) {
		return Address{Engine: CRI}, unavailable(nil, forwardFix, "%s is not set, and there is neither %s", criVariable, strings.Join(sockets, " nor "))
	}
	return a, nil
}

// Server is an engine that is reached by the CRI.
type Server struct {
	At    Address
	RunID string // whose pods and images it removes; "" is nobody's

	conn    *grpc.ClientConn
	runtime runtimev1.RuntimeServiceClient
	image   runtimev1.ImageServiceClient
}

// connectCRI makes a client; it sends nothing yet. Its one connection stays open.
func (a Address) connectCRI(runID string) (*Server, error) {
	target := a.Host // a Unix socket is written as gRPC writes it
	if rest, ok := strings.CutPrefix(a.Host, "tcp://"); ok {
		target = "dns:///" + rest
	}
	conn, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy(),
		grpc.WithIdleTimeout(0), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(16<<20)))
	if err != nil {
		return nil, unavailable(err, "", "making a client for the CRI at %s", a.Host)
	}
	return &Server{At: a, RunID: runID, conn: conn, runtime: runtimev1.NewRuntimeServiceClient(conn), image: runtimev1.NewImageServiceClient(conn)}, nil
}

// Close ends the connection.
func (s *Server) Close() error { return s.conn.Close() }

// greet opens the connection and says who answers.
func (s *Server) greet(ctx context.Context) (*runtimev1.VersionResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, greetLimit)
	defer cancel()
	v, err := s.runtime.Version(ctx, &runtimev1.VersionRequest{})
	if err != nil {
		return nil, s.wrong("asking whether it answers", err)
	}
	return v, nil
}

// RoundTrip is the median of a few requests that the server answers at once, in ns.
func (s *Server) RoundTrip(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	return median(roundTrips, func() error {
		_, err := s.runtime.Version(ctx, &runtimev1.VersionRequest{})
		return err
	})
}

// wrong makes an engine.Error out of an error of a call.
func (s *Server) wrong(what string, err error) *engine.Error {
	var known *engine.Error
	if errors.As(err, &known) {
		return known
	}
	text := lastLine([]byte(status.Convert(err).Message()))
	if _, after, ok := strings.Cut(text, "Error while dialing: "); ok { // what gRPC puts around it helps nobody
		text = strings.TrimSuffix(after, `"`)
	}
	said := errors.New(text)
	switch status.Code(err) {
	case codes.DeadlineExceeded:
		return &engine.Error{Class: record.TimeOut, Text: what, Err: said}
	case codes.Unimplemented:
		return &engine.Error{Class: record.Unsupported, Err: said,
			Text: what + ": its CRI is switched off (disabled_plugins in /etc/containerd/config.toml, as Docker's packages of containerd have it), or older than v1"}
	case codes.Unavailable:
		return &engine.Error{Class: record.Unavailable, Err: said, Fix: "crictl --runtime-endpoint " + s.At.Host + " version",
			Text: fmt.Sprintf("%s: the CRI at %s (by %s) does not answer", what, s.At.Host, s.At.From)}
	}
	return &engine.Error{Class: record.EngineError, Text: what, Err: said}
}

// thing is the ledger's entry of what the server has made.
func (s *Server) thing(kind, name string) engine.Thing {
	return engine.Thing{Kind: kind, Name: name, Engine: CRI, At: s.At.Host}
}

// notThere: the server knows no such thing (any more).
func notThere(err error) bool { return status.Code(err) == codes.NotFound }

// unanswered: a request was given up, or its connection was lost; what it asked for may be
// done all the same.
func unanswered(err error) bool {
	switch status.Code(err) {
	case codes.DeadlineExceeded, codes.Canceled, codes.Unavailable:
		return true
	}
	return false
}
