package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/pkg/cio"
	"github.com/containerd/containerd/v2/pkg/oci"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/containerd"
)

func containerdDriver() driver {
	return driver{name: "containerd", engine: containerd.New(),
		levels: map[string]string{engine.Network: "none", engine.Runtime: "runc"}, bare: newBareContainerd}
}

// bareContainerd is containerd's client, and nothing around it. What its
// containers are is learnt from one of the adapter's, so that only the calls
// differ.
type bareContainerd struct {
	*client.Client
	fifos    string
	model    containers.Container
	modelled oci.Spec
	image    client.Image
}

func newBareContainerd(_ context.Context, kit *engine.Kit, _ engine.Spec) (bare, error) {
	c, err := client.New(socketOf("CONTAINERD_ADDRESS"), client.WithDefaultNamespace(containerd.Namespace(kit.RunID)))
	return &bareContainerd{Client: c, fifos: filepath.Join(kit.Dir, "bare-fifo")}, err
}

// socketOf is containerd's: the one that the environment names, else the first that is there.
func socketOf(variable string) string {
	socket := strings.TrimPrefix(os.Getenv(variable), "unix://")
	for _, s := range []string{"/run/containerd/containerd.sock", "/run/plimsoll-lab/containerd/containerd.sock"} {
		if _, err := os.Stat(s); err == nil && socket == "" {
			socket = s
		}
	}
	return socket
}

func (b *bareContainerd) learn(ctx context.Context, name string) error {
	c, err := b.LoadContainer(ctx, name)
	if err != nil {
		return err
	}
	if b.model, err = c.Info(ctx); err != nil {
		return err
	}
	spec, err := c.Spec(ctx)
	if err != nil {
		return err
	}
	b.modelled = *spec
	b.image, err = b.GetImage(ctx, b.model.Image)
	return err
}

// spec is the model's, with another name and other arguments.
func (b *bareContainerd) spec(name string, argv []string) *oci.Spec {
	s, p, l := b.modelled, *b.modelled.Process, *b.modelled.Linux
	p.Args, l.CgroupsPath = argv, strings.Replace(l.CgroupsPath, b.model.ID, name, 1)
	s.Process, s.Linux, s.Hostname = &p, &l, strings.Replace(s.Hostname, b.model.ID, name, 1)
	return &s
}

func (b *bareContainerd) make(ctx context.Context, name string, argv []string) (client.Container, error) {
	return b.NewContainer(ctx, name, client.WithImage(b.image), client.WithSnapshotter(b.model.Snapshotter),
		client.WithNewSnapshot(name, b.image), client.WithContainerLabels(map[string]string{engine.Label: b.model.Labels[engine.Label]}),
		client.WithRuntime(b.model.Runtime.Name, b.model.Runtime.Options), client.WithSpec(b.spec(name, argv)))
}

func (b *bareContainerd) life(ctx context.Context, name string, argv []string) error {
	c, err := b.make(ctx, name, argv)
	if err != nil {
		return err
	}
	var out strings.Builder
	task, err := c.NewTask(ctx, cio.NewCreator(cio.WithStreams(nil, &out, io.Discard), cio.WithFIFODir(b.fifos)))
	if err != nil {
		return err
	}
	end, err := task.Wait(ctx)
	if err != nil {
		return err
	}
	if err := task.Start(ctx); err != nil {
		return err
	}
	status := <-end
	if status.Error() != nil {
		return status.Error()
	}
	task.IO().Wait()
	if !strings.HasPrefix(out.String(), "plimsoll ") {
		return fmt.Errorf("the payload said %q", out.String())
	}
	if _, err := task.Delete(ctx); err != nil {
		return err
	}
	return c.Delete(ctx, client.WithSnapshotCleanup)
}

func (b *bareContainerd) create(ctx context.Context, name string, argv []string) error {
	_, err := b.make(ctx, name, argv)
	return err
}

func (b *bareContainerd) remove(ctx context.Context, name string) error {
	c, err := b.LoadContainer(ctx, name)
	if err != nil {
		return err
	}
	return c.Delete(ctx, client.WithSnapshotCleanup)
}

func (b *bareContainerd) describe(ctx context.Context, name string, _ []string) (string, error) {
	c, err := b.LoadContainer(ctx, name)
	if err != nil {
		return "", err
	}
	info, err1 := c.Info(ctx)
	spec, err2 := c.Spec(ctx)
	text, err3 := json.Marshal([]any{info.Image, info.Labels, info.Snapshotter, info.Runtime, spec})
	return strings.ReplaceAll(string(text), name, "NAME"), errors.Join(err1, err2, err3)
}

func (b *bareContainerd) close() error { return b.Client.Close() }
