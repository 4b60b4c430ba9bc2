package docker

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/system"
	"github.com/moby/moby/client"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/kata"
	"plimsoll/internal/record"
)

// prove runs one container and shows by what the daemon says of it, by what
// the runtime's program says of itself, and by what the payload sees from
// inside, that the components in force are the ones asked for.
func (env *environment) prove(ctx context.Context, info *system.Info, runtime string) error {
	var live container.InspectResponse
	env.look = func(ctx context.Context, name string) error {
		res, err := env.d.ContainerInspect(ctx, name, client.ContainerInspectOptions{})
		live = res.Container
		return err
	}
	payload, err := adapter.Prove(ctx, env.kit, env, env.spec.ID)
	env.look = nil
	if err != nil {
		return err
	}
	if live.HostConfig == nil {
		return &engine.Error{Class: record.NoProof, Text: "the " + env.d.flavour.name + " daemon gave no configuration of the container that it ran"}
	}
	seen := evidence{
		Seen: adapter.Seen{Inside: payload.Report, Host: adapter.HostNow()}, engine: env.d.flavour.name, live: live,
		runtime: env.identify(ctx, info, live.HostConfig.Runtime), log: env.settings.log,
	}
	env.AddFacts(seen.facts())
	env.AddFacts(map[string]string{"runtime-type": info.Runtimes[live.HostConfig.Runtime].Type})
	if env.spec.Level(engine.Network) != "none" {
		if env.unreached = unreached(payload.Report, live.HostConfig.Runtime, info); env.unreached != "" {
			env.AddFacts(map[string]string{"network-inside": "loopback only"})
		}
	}
	if env.unreached != "" && env.spec.Level(engine.Network) == "host" && !loopbackAlone() {
		return &engine.Error{Class: record.WrongComponent, Text: "asked for the network host, and a container can't be reached: " + env.unreached}
	}
	if !seen.Foreign() {
		if err := adapter.JudgeOmitted(env.spec, payload.Report); err != nil {
			return err
		}
		if err := adapter.JudgeLayers(env.spec, payload.Report); err != nil {
			return err
		}
	}
	return seen.judge(env.spec, runtime)
}

// unreached says why a container can't be reached, and by whose word, where the
// runtime was told so in the daemon's configuration.
func unreached(inside map[string]string, runtime string, info *system.Info) string {
	why := adapter.OnlyLoopback(inside)
	args := info.Runtimes[runtime].Args
	if i := slices.IndexFunc(args, func(a string) bool { return strings.HasSuffix(a, "-network=none") }); why != "" && i >= 0 {
		why += fmt.Sprintf("; the daemon's configuration starts %s with %s", runtime, args[i])
	}
	return why
}

// evidence is what was found out about a live container.
type evidence struct {
	engine string // the flavour's name
	live   container.InspectResponse
	adapter.Seen
	runtime adapter.Itself // of the runtime that the container ran under
	log     string         // the driver that a configuration of the daemon names
}

func (e *evidence) networks() []string {
	var names []string
	if e.live.NetworkSettings != nil {
		for n := range e.live.NetworkSettings.Networks {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names
}

// seccomp is the profile by the daemon's word: "default", "unconfined" or a
// profile of the user's.
func (e *evidence) seccomp() string { return adapter.SeccompProfile(e.live.HostConfig.SecurityOpt) }

func (e *evidence) facts() map[string]string {
	hc := e.live.HostConfig
	f := map[string]string{
		"runtime": hc.Runtime, "runtime-program": e.runtime.Program, "runtime-version": e.runtime.Version,
		"runtime-path": e.runtime.Path,
		"storage":      e.live.Driver, "network": strings.Join(e.networks(), ","),
		"seccomp": e.seccomp(), "seccomp-inside": e.Inside["seccomp"],
		"log-driver": hc.LogConfig.Type, "kernel": e.Kernel(), "cgroup-namespace": string(hc.CgroupnsMode),
		"image-id": e.live.Image, "apparmor": e.live.AppArmorProfile, "root-fs": e.Inside["root.fs"],
	}
	if e.Foreign() {
		if name, ok := kata.Is(hc.Runtime); ok {
			maps.Copy(f, kata.Machine{}.Facts(name))
		}
	}
	return f
}

// judge compares what was found with what was asked for. What the environment
// was not told to vary is only recorded.
func (e *evidence) judge(spec engine.Spec, runtime string) error {
	hc := e.live.HostConfig
	if want := spec.Level(engine.Runtime); want != engine.DefaultLevel {
		if hc.Runtime != runtime {
			return adapter.Wrong("asked for the runtime %s, the %s daemon says that the container ran under %s", runtime, e.engine, hc.Runtime)
		}
		if err := e.runtime.Wrong(want, fmt.Sprintf("the %s daemon's %q", e.engine, hc.Runtime)); err != nil {
			return err
		}
		if foreign := e.Foreign(); foreign != slices.Contains(foreignKernel, want) {
			return adapter.Wrong("asked for the runtime %s, and the payload saw the kernel %s", want, e.Inside["uname.release"])
		}
	}
	if want := spec.Level(engine.Storage); want != engine.DefaultLevel && e.live.Driver != want {
		return adapter.Wrong("asked for the storage driver %s, the container's is %s", want, e.live.Driver)
	}
	if err := e.judgeNetwork(spec.Level(engine.Network)); err != nil {
		return err
	}
	if spec.Level(engine.Seccomp) == "off" {
		if err := e.JudgeUnconfined(e.seccomp()); err != nil {
			return err
		}
	}
	wanted := settingsFor(spec, "", "", "")
	wanted.log = e.log
	if got, want := hc.LogConfig.Type, wanted.logDriver(); got != want {
		return adapter.Wrong("asked for the log driver %s, the container's is %s", want, got)
	}
	return e.judgeAdded(spec)
}

func (e *evidence) judgeNetwork(want string) error {
	got := strings.Join(e.networks(), ",")
	if want == engine.DefaultLevel {
		return nil
	}
	if got != want {
		return adapter.Wrong("asked for the network %s, the container's is %s", want, got)
	}
	return e.JudgeNetwork(want)
}

// loopbackAlone says whether the host itself has no other interface.
func loopbackAlone() bool {
	all, err := net.Interfaces()
	return err == nil && len(all) == 1
}
