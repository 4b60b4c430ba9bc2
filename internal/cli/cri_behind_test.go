package cli

import (
	"context"
	"net"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/portable/portabletest"
	"plimsoll/internal/record"
)

// forward serves a Unix socket by another one, as ssh -L does, for as long as the script
// runs.
func forward(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: forward SOCKET TARGET")
	}
	l, err := net.Listen("unix", ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Defer(func() { _ = l.Close() }) // the script has ended
	go portabletest.Relay(l, args[1])
}

// criAt gives the calls of the CRI at a socket.
func criAt(ts *testscript.TestScript, socket string) (runtimev1.RuntimeServiceClient, runtimev1.ImageServiceClient) {
	conn, err := grpc.NewClient("unix://"+ts.MkAbs(socket), grpc.WithTransportCredentials(insecure.NewCredentials()))
	ts.Check(err)
	ts.Defer(func() { _ = conn.Close() }) // it was only asked
	return runtimev1.NewRuntimeServiceClient(conn), runtimev1.NewImageServiceClient(conn)
}

// killPod starts a program that makes a record, and kills it when a container of its run
// runs at the CRI at a socket, so that nothing is asked for at that moment but its stop.
func killPod(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: killpod SOCKET RECORD PROGRAM ARGS…")
	}
	runtime, _ := criAt(ts, args[0])
	killOnce(ts, args[2:], "it had a container", func() (bool, error) {
		r, err := record.Open(ts.MkAbs(args[1]))
		if err != nil {
			return false, nil //nolint:nilerr // it has not begun
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		there, err := runtime.ListContainers(ctx, &runtimev1.ListContainersRequest{Filter: &runtimev1.ContainerFilter{
			LabelSelector: map[string]string{engine.Label: r.Run().ID},
			State:         &runtimev1.ContainerStateValue{State: runtimev1.ContainerState_CONTAINER_RUNNING}}})
		return len(there.GetContainers()) > 0, err
	})
}

// noPods fails where the CRI at a socket has a pod or an image of a record's run.
func noPods(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: nopods SOCKET RECORD")
	}
	r, err := record.Open(ts.MkAbs(args[1]))
	ts.Check(err)
	id := r.Run().ID
	runtime, images := criAt(ts, args[0])
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	pods, err := runtime.ListPodSandbox(ctx, &runtimev1.ListPodSandboxRequest{
		Filter: &runtimev1.PodSandboxFilter{LabelSelector: map[string]string{engine.Label: id}}})
	ts.Check(err)
	all, err := images.ListImages(ctx, &runtimev1.ListImagesRequest{})
	ts.Check(err)
	for _, i := range all.GetImages() {
		if strings.Contains(strings.Join(i.GetRepoTags(), " "), id) {
			ts.Fatalf("the image %v is left", i.GetRepoTags())
		}
	}
	if n := len(pods.GetItems()); n > 0 {
		ts.Fatalf("%d pods are left", n)
	}
}
