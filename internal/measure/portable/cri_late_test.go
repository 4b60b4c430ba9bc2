package portable

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// silent is a server that makes no sandbox: it answers that it can't, or not at all.
type silent struct {
	runtimev1.UnimplementedRuntimeServiceServer
	runtimev1.UnimplementedImageServiceServer
	answers bool
	asked   func()      // is called when it was asked for a sandbox; nil is nothing
	pod     string      // the name of a pod that it has; "" is none
	removed atomic.Bool // that one
}

func (s *silent) RunPodSandbox(ctx context.Context, _ *runtimev1.RunPodSandboxRequest) (*runtimev1.RunPodSandboxResponse, error) {
	if s.asked != nil {
		s.asked()
	}
	if s.answers {
		return nil, status.Error(codes.Internal, "no sandbox today")
	}
	// Its own end of the limit can reach the client before the client's: it says the same.
	<-ctx.Done()
	return nil, status.FromContextError(ctx.Err()).Err()
}

func (s *silent) ListPodSandbox(context.Context, *runtimev1.ListPodSandboxRequest) (*runtimev1.ListPodSandboxResponse, error) {
	if s.pod == "" || s.removed.Load() {
		return &runtimev1.ListPodSandboxResponse{}, nil
	}
	return &runtimev1.ListPodSandboxResponse{Items: []*runtimev1.PodSandbox{{Id: "1", Labels: map[string]string{engine.Label: "abcdefgh"},
		Metadata: &runtimev1.PodSandboxMetadata{Name: s.pod, Namespace: engine.Namespace}}}}, nil
}

func (s *silent) ListContainers(context.Context, *runtimev1.ListContainersRequest) (*runtimev1.ListContainersResponse, error) {
	return &runtimev1.ListContainersResponse{}, nil
}

func (s *silent) StopPodSandbox(context.Context, *runtimev1.StopPodSandboxRequest) (*runtimev1.StopPodSandboxResponse, error) {
	return &runtimev1.StopPodSandboxResponse{}, nil
}

func (s *silent) RemovePodSandbox(context.Context, *runtimev1.RemovePodSandboxRequest) (*runtimev1.RemovePodSandboxResponse, error) {
	s.removed.Store(true)
	return &runtimev1.RemovePodSandboxResponse{}, nil
}

func (s *silent) Version(context.Context, *runtimev1.VersionRequest) (*runtimev1.VersionResponse, error) {
	return &runtimev1.VersionResponse{RuntimeName: "silent", RuntimeVersion: "2"}, nil
}

func (s *silent) ImageStatus(context.Context, *runtimev1.ImageStatusRequest) (*runtimev1.ImageStatusResponse, error) {
	return &runtimev1.ImageStatusResponse{}, nil
}

// serve starts a server, and says where.
func serve(t *testing.T, s *silent) Address {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer()
	runtimev1.RegisterRuntimeServiceServer(server, s)
	runtimev1.RegisterImageServiceServer(server, s)
	go func() { _ = server.Serve(l) }() // until it is stopped
	t.Cleanup(server.Stop)
	return Address{Engine: CRI, Host: "tcp://" + l.Addr().String()}
}

// A pod whose sandbox was asked for without an answer may be made yet, and stays in the
// ledger; one that was refused does not.
func TestLatePod(t *testing.T) {
	for _, c := range []struct {
		what        string
		answers     bool
		limit       time.Duration
		interrupted bool
		want        record.Class
	}{
		{"a refusal", true, time.Minute, false, record.EngineError},
		{"a time-out", false, 500 * time.Millisecond, false, record.TimeOut},
		{"an interrupt", false, time.Minute, true, record.EngineError},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		t.Cleanup(cancel)
		server := &silent{answers: c.answers}
		if c.interrupted {
			server.asked = cancel
		}
		s, err := serve(t, server).connectCRI("abcdefgh")
		require.NoError(t, err)
		t.Cleanup(func() { _ = s.Close() }) // the server has gone
		ledger, err := NewLedger(t.TempDir(), "abcdefgh")
		require.NoError(t, err)
		e := &byCRI{s: s, ledger: ledger, settings: settings{image: "x", runID: "abcdefgh"}, images: map[string]*runtimev1.ImageSpec{"x": {Image: "x"}}}
		task := engine.Task{Name: "plimsoll-abcdefgh-1", Argv: []string{"/x"}, Limit: c.limit}
		res, _, err := e.exec(ctx, task, []string{"/x"})
		require.NoError(t, err)
		if res.Failure == nil || res.Failure.Class != c.want {
			t.Errorf("%s: %+v, want %s", c.what, res.Failure, c.want)
		}
		_, waits := ledger.late[task.Name]
		if kept := slices.Contains(ledger.Left(), s.thing(engine.KindContainer, task.Name)); kept == c.answers || waits != kept {
			t.Errorf("%s: in the ledger: %v, and waited for: %v", c.what, kept, waits)
		}
		require.NoError(t, ledger.Close())
	}
}

// A pod that may come yet is looked for at the run's end, and not before it may have come.
func TestCleanUpLate(t *testing.T) {
	at := serve(t, &silent{})
	l, err := NewLedger(t.TempDir(), "abcdefgh")
	require.NoError(t, err)
	thing := engine.Thing{Kind: engine.KindContainer, Name: "plimsoll-abcdefgh-1", Engine: CRI, At: at.Host}
	require.NoError(t, errors.Join(l.Reached(at.Host, reach{Address: at}), l.Made(thing)))
	until := time.Now().Add(20 * time.Millisecond)
	l.givenUp(thing.Name, until)
	r := &run{Options: Options{Look: &Look{}, Run: &record.Run{ID: "abcdefgh"}}, ledger: l}
	require.NoError(t, r.cleanUp(t.Context()))
	if early := time.Until(until); early > 0 || len(l.Left()) > 0 {
		t.Errorf("it is looked for %v too early; left are %v", early, l.Left())
	}
}
