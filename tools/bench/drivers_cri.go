package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	adapter "plimsoll/internal/measure/engine/cri"
)

func criDriver() driver {
	return driver{name: "cri", engine: adapter.New(),
		levels: map[string]string{engine.Endpoint: "containerd", engine.Runtime: "runc", engine.Network: "host"}, bare: newBareCRI}
}

// bareCRI is the CRI's own client, and nothing around it: the end of a
// container is polled as often as the adapter does where the server sends no
// events, and its output is read from its log.
type bareCRI struct {
	conn    *grpc.ClientConn
	runtime cri.RuntimeServiceClient
	runID   string
	logs    string
	handler string
	name    string // of the pod that the models are of
	pod     *cri.PodSandboxConfig
	ctr     *cri.ContainerConfig
}

const criPoll = 2 * time.Millisecond

func newBareCRI(_ context.Context, kit *engine.Kit, spec engine.Spec) (bare, error) {
	conn, err := grpc.NewClient("unix://"+socketOf("CONTAINER_RUNTIME_ENDPOINT"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	return &bareCRI{conn: conn, runtime: cri.NewRuntimeServiceClient(conn), runID: kit.RunID,
		logs: filepath.Join(kit.Dir, "bare-logs"), handler: spec.Levels[engine.Runtime]}, err
}

// find gives the ids of a pod and of its container, where it has one.
func (b *bareCRI) find(ctx context.Context, name string) (pod, ctr string, err error) {
	pods, err := b.runtime.ListPodSandbox(ctx, &cri.ListPodSandboxRequest{Filter: &cri.PodSandboxFilter{
		LabelSelector: map[string]string{engine.Label: b.runID, "io.kubernetes.pod.name": name}}})
	if err != nil {
		return "", "", err
	}
	if len(pods.GetItems()) != 1 {
		return "", "", fmt.Errorf("there are %d pods %s", len(pods.GetItems()), name)
	}
	pod = pods.GetItems()[0].GetId()
	ctrs, err := b.runtime.ListContainers(ctx, &cri.ListContainersRequest{Filter: &cri.ContainerFilter{PodSandboxId: pod}})
	if err == nil && len(ctrs.GetContainers()) == 1 {
		ctr = ctrs.GetContainers()[0].GetId()
	}
	return pod, ctr, err
}

// configs are what a pod and its container were made of, which the server
// tells when it is asked to be verbose.
func (b *bareCRI) configs(ctx context.Context, name string) (*cri.PodSandboxConfig, *cri.ContainerConfig, error) {
	pod, ctr, err := b.find(ctx, name)
	if err != nil || ctr == "" {
		return nil, nil, errors.Join(err, fmt.Errorf("the pod %s has no container yet", name))
	}
	p, err := b.runtime.PodSandboxStatus(ctx, &cri.PodSandboxStatusRequest{PodSandboxId: pod, Verbose: true})
	if err != nil {
		return nil, nil, err
	}
	c, err := b.runtime.ContainerStatus(ctx, &cri.ContainerStatusRequest{ContainerId: ctr, Verbose: true})
	if err != nil {
		return nil, nil, err
	}
	var ofPod struct{ Config *cri.PodSandboxConfig }
	var ofCtr struct{ Config *cri.ContainerConfig }
	err = errors.Join(json.Unmarshal([]byte(p.GetInfo()["info"]), &ofPod), json.Unmarshal([]byte(c.GetInfo()["info"]), &ofCtr))
	if err == nil && (ofPod.Config == nil || ofCtr.Config == nil) {
		err = errors.New("the server does not tell what a container was made of")
	}
	return ofPod.Config, ofCtr.Config, err
}

func (b *bareCRI) learn(ctx context.Context, name string) (err error) {
	b.name = name
	b.pod, b.ctr, err = b.configs(ctx, name)
	return err
}

func rename(labels map[string]string, from, to string) {
	for k, v := range labels {
		labels[k] = strings.Replace(v, from, to, 1)
	}
}

// up makes a pod with a container, and starts it where it is told to.
func (b *bareCRI) up(ctx context.Context, name string, argv []string, start bool) (pod, ctr, log string, err error) {
	p, c := proto.Clone(b.pod).(*cri.PodSandboxConfig), proto.Clone(b.ctr).(*cri.ContainerConfig)
	p.Metadata.Name, p.Metadata.Uid, p.LogDirectory = name, name, filepath.Join(b.logs, name)
	rename(p.Labels, b.name, name)
	rename(c.Labels, b.name, name)
	c.Command, c.Args = argv[:1], argv[1:]
	made, err := b.runtime.RunPodSandbox(ctx, &cri.RunPodSandboxRequest{Config: p, RuntimeHandler: b.handler})
	if err != nil {
		return "", "", "", err
	}
	pod, log = made.GetPodSandboxId(), filepath.Join(p.LogDirectory, c.LogPath)
	created, err := b.runtime.CreateContainer(ctx, &cri.CreateContainerRequest{PodSandboxId: pod, Config: c, SandboxConfig: p})
	if err != nil {
		return pod, "", log, err
	}
	ctr = created.GetContainerId()
	if start {
		_, err = b.runtime.StartContainer(ctx, &cri.StartContainerRequest{ContainerId: ctr})
	}
	return pod, ctr, log, err
}

func (b *bareCRI) down(ctx context.Context, pod, ctr string) error {
	if _, err := b.runtime.RemoveContainer(ctx, &cri.RemoveContainerRequest{ContainerId: ctr}); err != nil {
		return err
	}
	if _, err := b.runtime.StopPodSandbox(ctx, &cri.StopPodSandboxRequest{PodSandboxId: pod}); err != nil {
		return err
	}
	_, err := b.runtime.RemovePodSandbox(ctx, &cri.RemovePodSandboxRequest{PodSandboxId: pod})
	return err
}

func (b *bareCRI) life(ctx context.Context, name string, argv []string) error {
	if err := os.MkdirAll(filepath.Join(b.logs, name), 0o755); err != nil {
		return err
	}
	pod, ctr, log, err := b.up(ctx, name, argv, true)
	if err != nil {
		return err
	}
	for {
		s, err := b.runtime.ContainerStatus(ctx, &cri.ContainerStatusRequest{ContainerId: ctr})
		if err != nil {
			return err
		}
		if s.GetStatus().GetState() == cri.ContainerState_CONTAINER_EXITED {
			break
		}
		time.Sleep(criPoll)
	}
	out, err := os.ReadFile(log)
	if err != nil {
		return err
	}
	if !strings.Contains(string(out), " stdout F plimsoll ") {
		return fmt.Errorf("the payload said %q", out)
	}
	if err := b.down(ctx, pod, ctr); err != nil {
		return err
	}
	return safepath.RemoveAll(filepath.Dir(log))
}

func (b *bareCRI) create(ctx context.Context, name string, argv []string) error {
	if err := os.MkdirAll(filepath.Join(b.logs, name), 0o755); err != nil {
		return err
	}
	_, _, _, err := b.up(ctx, name, argv, false)
	return err
}

func (b *bareCRI) remove(ctx context.Context, name string) error {
	pod, ctr, err := b.find(ctx, name)
	if err != nil {
		return err
	}
	return b.down(ctx, pod, ctr)
}

func (b *bareCRI) describe(ctx context.Context, name string, _ []string) (string, error) {
	p, c, err := b.configs(ctx, name)
	if err != nil {
		return "", err
	}
	p.LogDirectory = ""
	text, err := json.Marshal([]any{p, c})
	return strings.ReplaceAll(string(text), name, "NAME"), err
}

func (b *bareCRI) close() error { return b.conn.Close() }
