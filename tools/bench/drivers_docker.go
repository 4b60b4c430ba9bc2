package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/docker"
)

func dockerDriver() driver {
	return driver{name: "docker", engine: docker.New(),
		levels: map[string]string{engine.Network: "none"}, bare: newBareDocker}
}

// bareDocker is Docker's client, and nothing around it.
type bareDocker struct {
	*client.Client
	tag, runID string
	limits     engine.Limits
}

func newBareDocker(ctx context.Context, kit *engine.Kit, spec engine.Spec) (bare, error) {
	c, err := client.New(client.FromEnv)
	if err != nil {
		return nil, err
	}
	if _, err := c.Ping(ctx, client.PingOptions{NegotiateAPIVersion: true}); err != nil {
		return nil, err
	}
	return &bareDocker{Client: c, tag: kit.Images.Tag("payload", kit.RunID), runID: kit.RunID, limits: spec.Limits}, nil
}

func (b *bareDocker) options(name string, argv []string) client.ContainerCreateOptions {
	noInit := false
	return client.ContainerCreateOptions{
		Name: name,
		Config: &container.Config{Image: b.tag, Entrypoint: argv[:1], Cmd: argv[1:], AttachStdout: true, AttachStderr: true,
			Labels: map[string]string{engine.Label: b.runID}},
		HostConfig: &container.HostConfig{LogConfig: container.LogConfig{Type: "none"}, NetworkMode: "none", Init: &noInit,
			Resources: container.Resources{NanoCPUs: int64(b.limits.CPUs * 1e9), Memory: b.limits.MemoryBytes, MemorySwap: b.limits.MemoryBytes}},
	}
}

func (b *bareDocker) life(ctx context.Context, name string, argv []string) error {
	made, err := b.ContainerCreate(ctx, b.options(name, argv))
	if err != nil {
		return err
	}
	att, err := b.ContainerAttach(ctx, made.ID, client.ContainerAttachOptions{Stream: true, Stdout: true, Stderr: true})
	if err != nil {
		return err
	}
	defer att.Close()
	var out strings.Builder
	end := make(chan error, 1)
	go func() {
		_, err := stdcopy.StdCopy(&out, io.Discard, att.Reader)
		end <- err
	}()
	w := b.ContainerWait(ctx, made.ID, client.ContainerWaitOptions{Condition: container.WaitConditionNextExit})
	if _, err := b.ContainerStart(ctx, made.ID, client.ContainerStartOptions{}); err != nil {
		return err
	}
	select {
	case <-w.Result:
	case err := <-w.Error:
		return err
	}
	if err := <-end; err != nil {
		return err
	}
	if !strings.HasPrefix(out.String(), "plimsoll ") {
		return fmt.Errorf("the payload said %q", out.String())
	}
	_, err = b.ContainerRemove(ctx, made.ID, client.ContainerRemoveOptions{RemoveVolumes: true})
	return err
}

func (b *bareDocker) create(ctx context.Context, name string, argv []string) error {
	_, err := b.ContainerCreate(ctx, b.options(name, argv))
	return err
}

func (b *bareDocker) remove(ctx context.Context, name string) error {
	_, err := b.ContainerRemove(ctx, name, client.ContainerRemoveOptions{RemoveVolumes: true, Force: true})
	return err
}

func (b *bareDocker) describe(ctx context.Context, name string, argv []string) (string, error) {
	res, err := b.ContainerInspect(ctx, name, client.ContainerInspectOptions{})
	if err != nil {
		return "", err
	}
	c := res.Container
	c.Config.Hostname = ""
	text, err := json.Marshal([]any{c.Config, c.HostConfig, c.Driver, c.Image})
	return string(text), err
}

func (b *bareDocker) close() error { return b.Client.Close() }
