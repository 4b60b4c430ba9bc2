package cli

import (
	"context"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// criAt gives the calls of the CRI at a socket.
func criAt(ts *testscript.TestScript, socket string) (runtimev1.RuntimeServiceClient, runtimev1.ImageServiceClient) {
	conn, err := grpc.NewClient("unix://"+ts.MkAbs(socket), grpc.WithTransportCredentials(insecure.NewCredentials()))
	ts.Check(err)
	ts.Defer(func() { _ = conn.Close() }) // it was only asked
	return runtimev1.NewRuntimeServiceClient(conn), runtimev1.NewImageServiceClient(conn)
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
