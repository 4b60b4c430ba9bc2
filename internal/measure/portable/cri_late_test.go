package portable

import (
	"context"
	"net"
	"slices"
	"strings"
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
}

func (s *silent) RunPodSandbox(ctx context.Context, _ *runtimev1.RunPodSandboxRequest) (*runtimev1.RunPodSandboxResponse, error) {
	if !s.answers {
		<-ctx.Done()
	}
	return nil, status.Error(codes.Internal, "no sandbox today")
}

func (s *silent) ListPodSandbox(context.Context, *runtimev1.ListPodSandboxRequest) (*runtimev1.ListPodSandboxResponse, error) {
	return &runtimev1.ListPodSandboxResponse{}, nil
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
	for _, answers := range []bool{true, false} {
		s, err := serve(t, &silent{answers: answers}).connectCRI("abcdefgh")
		require.NoError(t, err)
		t.Cleanup(func() { _ = s.Close() }) // the server has gone
		ledger, err := NewLedger(t.TempDir(), "abcdefgh")
		require.NoError(t, err)
		e := &byCRI{s: s, ledger: ledger, settings: settings{image: "x", runID: "abcdefgh"}, images: map[string]*runtimev1.ImageSpec{"x": {Image: "x"}}}
		task := engine.Task{Name: "plimsoll-abcdefgh-1", Argv: []string{"/x"}, Limit: time.Minute}
		want := record.EngineError
		if !answers {
			task.Limit, want = 50*time.Millisecond, record.TimeOut
		}
		res, _, err := e.exec(t.Context(), task, []string{"/x"})
		require.NoError(t, err)
		if res.Failure == nil || res.Failure.Class != want {
			t.Errorf("answers %v: %+v, want %s", answers, res.Failure, want)
		}
		if kept := slices.Contains(ledger.Left(), s.thing(engine.KindContainer, task.Name)); kept == answers {
			t.Errorf("answers %v: in the ledger: %v", answers, kept)
		}
		require.NoError(t, ledger.Close())
	}
}

// What is not there is told so; where another server answers than the run had, its socket
// may lead to another node by now, and the ledger keeps it.
func TestAbsent(t *testing.T) {
	at := serve(t, &silent{})
	thing := engine.Thing{Kind: engine.KindImage, Name: loaded + "x:abcdefgh", Engine: CRI, At: at.Host}
	for server, kept := range map[string]bool{"": false, "silent 2": false, "silent 1": true} {
		at.Server = server
		all := Surroundings{}.takeAway(t.Context(), "abcdefgh", []engine.Thing{thing}, map[string]reach{at.Host: {Address: at}})
		if len(all) != 1 || all[0].Absent == kept || kept != strings.Contains(all[0].Kept, "where silent 2 answers, and the run had silent 1") {
			t.Errorf("the run had %q: %+v", server, all)
		}
	}
}
