package containerd

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/core/mount"
	"github.com/containerd/containerd/v2/pkg/oci"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/engine/kata"
)

// prove runs one container and shows by the daemon's record of it, by the
// state that its runtime kept, by its snapshot's mounts and by what the
// payload sees from inside that what is in force is what was asked for.
func (env *environment) prove(ctx context.Context) error {
	seen := evidence{Seen: adapter.Seen{Host: adapter.HostNow()}, runtime: env.runtime.identify(ctx, env.d.socket)}
	env.look = func(ctx context.Context, c client.Container) error {
		var err error
		if seen.live, err = c.Info(ctx); err != nil {
			return err
		}
		if seen.spec, err = c.Spec(ctx); err != nil {
			return err
		}
		seen.state = env.d.stateOf(c.ID())
		seen.mounts, err = env.d.SnapshotService(seen.live.Snapshotter).Mounts(ctx, seen.live.SnapshotKey)
		return err
	}
	payload, err := adapter.Prove(ctx, env.kit, env, env.spec.ID)
	env.look = nil
	if err != nil {
		return err
	}
	seen.Inside = payload.Report
	env.AddFacts(seen.facts(env.spec))
	if env.cli != nil {
		env.AddFacts(map[string]string{"client-library": ""})
		env.AddFacts(env.cli.facts(ctx))
	}
	if !seen.Foreign() {
		if err := adapter.JudgeOmitted(env.spec, payload.Report); err != nil {
			return err
		}
		if err := adapter.JudgeLayers(env.spec, payload.Report); err != nil {
			return err
		}
	}
	if err := seen.judge(env.spec, env.runtime); err != nil {
		return err
	}
	return seen.judgeInterfaces(env.Fact("network"))
}

// evidence is what was found out about a live container.
type evidence struct {
	live   containers.Container
	spec   *oci.Spec
	mounts []mount.Mount // of its snapshot
	state  string        // the runtime by the state that it kept; empty where unknown
	adapter.Seen
	runtime adapter.Itself
}

func (e *evidence) facts(spec engine.Spec) map[string]string {
	f := map[string]string{
		"runtime": e.runtime.Program, "runtime-path": e.runtime.Path, "runtime-version": e.runtime.Version,
		"shim":    e.live.Runtime.Name,
		"storage": e.live.Snapshotter, "root-fs": e.Inside["root.fs"], "image-store": "containerd",
		"cgroup": cgroup.Version(), engine.Driver: cgroup.Driver, "rootless": "no", "user": "root",
		"seccomp": "default", "seccomp-inside": e.Inside["seccomp"], "apparmor": "off",
		"client": byAPI, "client-library": adapter.Library("github.com/containerd/containerd/v2"), "init": "none", "log": "none", "kernel": e.Kernel(),
		engine.HeldFact: engine.HeldByEngine,
	}
	for _, m := range e.mounts {
		f["storage-mount"] = strings.TrimPrefix(f["storage-mount"]+","+m.Type, ",")
	}
	f["runtime"] = cmp.Or(f["runtime"], e.live.Runtime.Name)
	if spec.Level(engine.Driver) == "systemd" {
		f[engine.Driver] = "systemd"
	}
	if e.spec.Linux.Seccomp == nil {
		f["seccomp"] = "off"
	}
	if e.spec.Process.ApparmorProfile != "" {
		f["apparmor"] = e.spec.Process.ApparmorProfile
	}
	if e.Foreign() {
		if name, ok := kata.Is(e.live.Runtime.Name); ok {
			maps.Copy(f, kata.Machine{}.Facts(name))
		}
	}
	return f
}

// judge compares what was found with what was asked for.
func (e *evidence) judge(spec engine.Spec, want ociRuntime) error {
	if e.live.Runtime.Name != want.shim {
		return adapter.Wrong("asked for the shim %s, containerd says that the container ran under %s", want.shim, e.live.Runtime.Name)
	}
	if want.level != engine.DefaultLevel {
		if !slices.Contains(kata.Levels, want.level) { // of which there is no program to ask
			if err := e.runtime.Wrong(want.level, ""); err != nil {
				return err
			}
		}
		if e.state != "" && e.state != want.level {
			return adapter.Wrong("asked for the runtime %s, and the state kept of the container is one of %s", want.level, e.state)
		}
		if e.Foreign() != want.foreign {
			return adapter.Wrong("asked for the runtime %s, and the payload saw the kernel %s", want.level, e.Inside["uname.release"])
		}
	}
	if err := e.judgeStorage(storage(spec)); err != nil {
		return err
	}
	// gVisor and Kata show no host namespaces, and filter by themselves.
	if e.Foreign() {
		return nil
	}
	if ns := e.Inside["ns.net"]; ns != "" && (ns == e.Host.Net) != hostNetwork(spec) {
		return adapter.Wrong("the payload saw the network namespace %s, the host's is %s", ns, e.Host.Net)
	}
	if spec.Level(engine.Seccomp) == "off" {
		return e.JudgeNoSeccomp()
	}
	if e.Inside["seccomp"] == "0" {
		return adapter.Wrong("asked for the default seccomp profile, and the payload ran without one")
	}
	return nil
}

// interfaces are how many a payload sees, the loopback being one.
var interfaces = map[string]string{"none": "1", "bridge": "2"}

func (e *evidence) judgeInterfaces(network string) error {
	want, got := interfaces[network], e.Inside["net.interfaces"]
	if want == "" || got == "" || got == want || e.Foreign() {
		return nil
	}
	return adapter.Wrong("asked for the network %s, and the payload saw the interfaces %s", network, e.Inside["net.names"])
}

// seenAs is the root file system that a payload sees, by snapshotter; one that
// is missing puts the image on whatever file system it was given.
var seenAs = map[string]string{"overlayfs": "overlay", "erofs": "overlay", "btrfs": "btrfs", "zfs": "zfs", "fuse-overlayfs": "fuse.fuse-overlayfs"}

// judgeStorage trusts the mount seen from inside more than the daemon's word.
func (e *evidence) judgeStorage(want string) error {
	if e.live.Snapshotter != want {
		return adapter.Wrong("asked for the snapshotter %s, containerd says %s", want, e.live.Snapshotter)
	}
	fs := e.Inside["root.fs"]
	if fs == "" || e.Foreign() {
		return nil
	}
	if as, ok := seenAs[want]; ok && as != fs {
		return adapter.Wrong("asked for the snapshotter %s, and the payload saw a root file system of type %s", want, fs)
	}
	if seenAs[want] == "" && fs == "overlay" {
		return adapter.Wrong("asked for the snapshotter %s, and the payload saw an overlay", want)
	}
	return nil
}
