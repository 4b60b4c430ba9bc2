package cri

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	v1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// usual are the sockets where servers listen when nobody said otherwise.
var usual = []string{"/run/containerd/containerd.sock", "/run/crio/crio.sock"}

// variable is what crictl and others read the endpoint from.
const variable = "CONTAINER_RUNTIME_ENDPOINT"

// The time limits of calls that are no part of a trial.
const (
	askLimit    = engine.DetectLimit // a question that a server answers at once, if the machine is not busy
	removeLimit = 30 * time.Second   // to end and remove what a trial left
)

// server is one CRI server.
type server struct {
	conn    *grpc.ClientConn
	runtime v1.RuntimeServiceClient
	image   v1.ImageServiceClient
	path    string // of its socket
	runID   string // whose pods it removes; "" is nobody's
	version *v1.VersionResponse
	own     *ownServer // nil for the user's
	// peer is the user who listens at the other end of the connection, by the kernel's
	// word; nobody before there was one.
	peer atomic.Int64
}

const nobodyYet = -1

// candidates lists where to look: a build that is a server, or the user's variable, stands
// for itself alone.
func (e *Engine) candidates(kit *engine.Kit) ([]string, error) {
	if _, sockets := joined(kit); len(sockets) > 0 {
		return sockets, nil
	}
	if e.sockets != nil {
		return e.sockets, nil
	}
	v := kit.Getenv(variable)
	if v == "" {
		return slices.Concat(usual, engine.Places("containerd"), engine.Places("crio")), nil
	}
	path := strings.TrimPrefix(v, "unix://")
	if !strings.HasPrefix(path, "/") {
		return nil, &engine.Error{Class: record.Unsupported,
			Text: fmt.Sprintf("%s is %q: only a Unix socket can be measured, since clock and processes must be this machine's", variable, v),
			Fix:  "unset " + variable + ", or point it to unix:///run/containerd/containerd.sock"}
	}
	return []string{path}, nil
}

// endpointOf turns a server's own name into a level.
func endpointOf(name string) string {
	switch name {
	case "containerd":
		return containerd
	case "cri-o", "crio":
		return crio
	}
	return name
}

// connect finds the first server that answers and is of the kind asked for.
// The error is of class record.Unavailable and says what was tried.
func (e *Engine) connect(ctx context.Context, kit *engine.Kit, level string) (*server, error) {
	paths, err := e.candidates(kit)
	if err != nil {
		return nil, err
	}
	var tried []string
	for _, p := range paths {
		if err := adapter.Asleep(ctx, kit, "the CRI server", p); err != nil {
			tried = append(tried, fmt.Sprintf("%s: %v", p, err))
			continue
		}
		s, err := dial(ctx, p)
		if err == nil {
			s.runID = kit.RunID
		}
		if err != nil {
			if err.Error() != notThere {
				tried = append(tried, fmt.Sprintf("%s: %v", p, err))
			}
			continue
		}
		is := endpointOf(s.version.RuntimeName)
		if level == engine.DefaultLevel || is == level {
			return s, nil
		}
		tried = append(tried, p+" is "+is)
		s.close()
	}
	what := "no CRI server"
	if level != engine.DefaultLevel {
		what = "no CRI server that is " + level
	}
	text := fmt.Sprintf("%s answers at %s", what, strings.Join(paths, ", "))
	if len(tried) > 0 {
		text += " (" + strings.Join(tried, "; ") + ")"
	}
	return nil, &engine.Error{Class: record.Unavailable, Text: text, Fix: lookedFor(kit, level)}
}

const notThere = "there is no such socket"

// errNobody: no CRI server is at this socket, or none that we may talk to.
var errNobody = errors.New("no CRI server")

// nobody is an error that says why, and is errNobody.
type nobody struct{ why string }

func (n nobody) Error() string        { return n.why }
func (n nobody) Is(target error) bool { return target == errNobody }

// dial opens a connection and asks for the version, so that it is known that
// a CRI server is at its other end, and the connection is warm.
func dial(ctx context.Context, path string) (*server, error) {
	switch _, err := os.Stat(path); {
	case errors.Is(err, os.ErrNotExist):
		return nil, nobody{notThere}
	case err != nil || unix.Access(path, unix.W_OK) != nil:
		return nil, nobody{"you may not talk to it"}
	}
	s := &server{path: path}
	s.peer.Store(nobodyYet)
	conn, err := grpc.NewClient("passthrough:///cri",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return s.connect(ctx) }),
		grpc.WithAuthority("localhost"), // as for a socket that gRPC itself connects to
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		// Idle connections would be closed after half an hour, and some trial
		// would have to open a new one.
		grpc.WithIdleTimeout(0),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(16<<20)),
	)
	if err != nil {
		return nil, err
	}
	s.conn, s.runtime, s.image = conn, v1.NewRuntimeServiceClient(conn), v1.NewImageServiceClient(conn)
	ctx, cancel := child.Within(ctx, askLimit)
	defer cancel()
	s.version, err = s.runtime.Version(ctx, &v1.VersionRequest{})
	if err != nil {
		s.close()
		switch status.Code(err) {
		case codes.Unimplemented:
			return nil, nobody{"it does not speak version v1 of the CRI (containerd: is the plug-in cri disabled in its configuration?)"}
		case codes.Unavailable:
			return nil, nobody{words(err)}
		}
		return nil, errors.New(words(err))
	}
	return s, nil
}

func (s *server) close() { _ = s.conn.Close() }

// connect connects to the socket and notes who listens there. The path is taken as it
// is: in an address of gRPC's some letters would mean something else.
func (s *server) connect(ctx context.Context) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", s.path)
	if err != nil {
		return nil, err
	}
	s.peer.Store(nobodyYet)
	if cred, err := proc.PeerOf(conn.(*net.UnixConn)); err == nil {
		s.peer.Store(int64(cred.Uid))
	}
	return conn, nil
}

// rootless tells by the owner of the process at the socket's other end.
func (s *server) rootless() string {
	switch s.peer.Load() {
	case nobodyYet:
		return ""
	case 0:
		return "no"
	}
	return "yes"
}

// words are what the server said, without gRPC's frame.
func words(err error) string {
	said := err.Error()
	if st, ok := status.FromError(err); ok {
		said = st.Message()
	}
	return adapter.Words([]byte(said))
}

// patterns are pieces of the servers' messages with what they stand for.
var patterns = []adapter.Pattern{
	{Text: "no runtime for", Class: record.Unavailable},                 // containerd: no such handler
	{Text: "failed to find runtime handler", Class: record.Unavailable}, // CRI-O
	{Text: "failed to get sandbox image", Class: record.Unavailable},    // containerd: the pause image
	{Text: "cni plugin not initialized", Class: record.Unavailable},
	{Text: "no cni configuration file", Class: record.Unavailable},
	{Text: "failed to find plugin", Class: record.Unavailable},     // CNI's
	{Text: "exec: \"containerd-shim", Class: record.Unavailable},   // a runtime_type without its shim
	{Text: "unknown version specified", Class: record.Unavailable}, // a crun that is older than the server's configuration
	{Text: "container memory limit", Class: record.Unsupported},    // CRI-O: less than it allows
}

// class tells what an error of a call stands for.
func class(err error) record.Class {
	switch status.Code(err) {
	case codes.Unavailable:
		return record.Unavailable
	case codes.Unimplemented:
		return record.Unsupported
	case codes.DeadlineExceeded:
		return record.TimeOut
	}
	return adapter.Classify(words(err), patterns)
}

// wrong makes an engine.Error out of an error of a call. What is a participle
// and its object: "creating the container".
func (s *server) wrong(what string, err error) *engine.Error {
	if known, ok := errors.AsType[*engine.Error](err); ok {
		return known
	}
	e := &engine.Error{Class: class(err), Text: what, Err: errors.New(words(err))}
	if status.Code(err) == codes.Unavailable && s.own != nil {
		e.Text, e.Err = what+": "+s.own.Gone(), nil
	} else if status.Code(err) == codes.Unavailable {
		e.Text = fmt.Sprintf("%s: the CRI server at %s does not answer", what, s.path)
		e.Fix = restarts(s.path)
	}
	return e
}

func (s *server) failure(what string, err error) *record.Failure {
	e := s.wrong(what, err)
	return &record.Failure{Class: e.Class, Text: e.Error()}
}

// notFound: the server knows no such thing (any more).
func notFound(err error) bool { return status.Code(err) == codes.NotFound }

// ping asks for the version again.
func (s *server) ping(ctx context.Context) error {
	_, err := s.runtime.Version(ctx, &v1.VersionRequest{})
	return err
}
