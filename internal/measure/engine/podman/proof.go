package podman

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/record"
)

// container is what we read of `podman inspect`.
type container struct {
	OCIRuntime  string
	Driver      string
	GraphDriver struct{ Name string }
	Image       string
	HostConfig  struct {
		NetworkMode string
		SecurityOpt []string
		LogConfig   struct{ Type string }
		CgroupMode  string
		// PortBindings are by the port inside.
		PortBindings map[string]any
	}
}

// prove runs one container and shows by podman's word and by what the payload
// sees from inside that the components in force are the ones asked for.
func (env *environment) prove(ctx context.Context, kit *engine.Kit, spec engine.Spec, info *info) error {
	var live []container
	env.look = func(ctx context.Context, name string) error {
		return env.p.read(ctx, &live, "inspect", "--type", "container", name)
	}
	payload, res, err := adapter.ProveResult(ctx, kit, env, spec.ID)
	env.look = nil
	if err != nil && bytes.Contains(res.Stderr, []byte(takenForRoot)) {
		return &engine.Error{Class: record.Unavailable, Err: err, Fix: "network: none, or a newer runsc",
			Text: "this gVisor can't take a container's network over on this kernel: it takes every network namespace for the host's"}
	}
	if err != nil {
		return err
	}
	if len(live) != 1 {
		return &engine.Error{Class: record.NoProof, Text: fmt.Sprintf("podman inspect listed %d containers, expected one", len(live))}
	}
	seen := evidence{Seen: adapter.Seen{Inside: payload.Report, Host: adapter.HostNow()}, live: live[0], info: info}
	env.AddFacts(seen.facts())
	env.unreached = adapter.OnlyLoopback(payload.Report)
	if !seen.Foreign() {
		if err := adapter.JudgeOmitted(spec, payload.Report); err != nil {
			return err
		}
		if err := adapter.JudgeLayers(spec, payload.Report); err != nil {
			return err
		}
	}
	return seen.judge(spec)
}

// takenForRoot is what gVisor of 2022 says on newer kernels, where
// /proc/sys/net/core/rmem_default, by which it knows the host's network
// namespace, is in every one.
const takenForRoot = "cannot run with network enabled in root network namespace"

// evidence is what was found out about a live container.
type evidence struct {
	live container
	info *info
	adapter.Seen
}

func (e *evidence) seccomp() string {
	profile := adapter.SeccompProfile(e.live.HostConfig.SecurityOpt)
	if profile == "default" && !e.info.Host.Security.SeccompEnabled {
		return "not enabled"
	}
	return profile
}

func (e *evidence) facts() map[string]string {
	return map[string]string{
		"runtime": filepath.Base(e.live.OCIRuntime), "runtime-path": e.info.Host.OCIRuntime.Path,
		"runtime-version": runtimeVersion(e.info.Host.OCIRuntime.Version),
		"network":         e.live.HostConfig.NetworkMode,
		"seccomp":         e.seccomp(), "seccomp-inside": e.Inside["seccomp"],
		"log-driver": e.live.HostConfig.LogConfig.Type, "cgroup-namespace": e.live.HostConfig.CgroupMode,
		"image-id": e.live.Image, "root-fs": e.Inside["root.fs"], "kernel": e.Kernel(),
	}
}

// runtimeVersion reads "crun version 1.8.1\ncommit: …".
func runtimeVersion(s string) string {
	w := strings.Fields(firstLine(s))
	if len(w) == 0 {
		return ""
	}
	return w[len(w)-1]
}

// judge compares what was found with what was asked for. What the environment
// was not told to vary is only recorded.
func (e *evidence) judge(spec engine.Spec) error {
	hc := e.live.HostConfig
	if want := spec.Level(engine.Runtime); want != engine.DefaultLevel {
		if got := filepath.Base(e.live.OCIRuntime); got != want {
			return adapter.Wrong("asked for the runtime %s, podman says that the container ran under %s", want, got)
		}
		// What a program is called proves nothing: it says itself what it is.
		program, _ := adapter.ParseItself(e.info.Host.OCIRuntime.Version)
		if err := (adapter.Itself{Path: e.info.Host.OCIRuntime.Path, Program: program}).Wrong(want, ""); err != nil {
			return err
		}
		if e.Foreign() != (want == "runsc") {
			return adapter.Wrong("asked for the runtime %s, and the payload saw the kernel %s", want, e.Inside["uname.release"])
		}
	}
	if err := e.judgeStorage(spec.Level(engine.Storage)); err != nil {
		return err
	}
	if want, got := spec.Level(engine.Rootless), e.info.Host.Security.Rootless; want != engine.DefaultLevel && got != (want == "yes") {
		return adapter.Wrong("asked for rootless %s, podman says that rootless is %v", want, got)
	}
	if err := e.judgeNetwork(spec.Level(engine.Network)); err != nil {
		return err
	}
	if spec.Level(engine.Seccomp) == "off" {
		if err := e.JudgeUnconfined(e.seccomp()); err != nil {
			return err
		}
	}
	if got, want := hc.LogConfig.Type, driverFor(spec.Extra()); got != want {
		return adapter.Wrong("asked for the log driver %s, the container's is %s", want, got)
	}
	if spec.Adds(engine.PublishedPort) && len(hc.PortBindings) == 0 {
		return adapter.Wrong("asked for a published port, and the container has none")
	}
	return nil
}

// judgeStorage trusts the root file system seen from inside too: overlay and
// fuse-overlayfs are the same driver by podman's word.
func (e *evidence) judgeStorage(want string) error {
	if want == engine.DefaultLevel {
		return nil
	}
	if got := e.info.driver(); got != want {
		return adapter.Wrong("asked for the storage driver %s, podman's is %s", want, got)
	}
	fs := e.Inside["root.fs"]
	if fs == "" || e.Foreign() {
		return nil
	}
	seen := vfs
	switch {
	case strings.HasPrefix(fs, "fuse"):
		seen = fuseOverlay
	case fs == "overlay":
		seen = overlay
	case fs == btrfs && want == btrfs: // also what vfs and directories have there
		seen = btrfs
	}
	if seen != want {
		return adapter.Wrong("asked for the storage driver %s, and the payload saw a root file system of type %s", want, fs)
	}
	return nil
}

func (e *evidence) judgeNetwork(want string) error {
	if want == engine.DefaultLevel {
		return nil
	}
	if got := e.live.HostConfig.NetworkMode; got != want {
		return adapter.Wrong("asked for the network %s, the container's is %s", want, got)
	}
	return e.JudgeNetwork(want)
}
