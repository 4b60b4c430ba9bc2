// Package docker measures the Docker Engine, by its API and by its command
// line.
//
// It is opinionated. The client is the official one, and it is a factor: the
// level "api" times the calls that a program would make, over a connection
// that is already open; the level "cli" times a whole `docker run --rm`. The
// daemon is the user's, local, and never reconfigured: a daemon beyond the
// network is refused, since its clock, its limits and its processes are not
// ours (the package portable measures such by the API alone). Container output goes to no log (log driver "none", as for every
// engine), and PID 1 is the payload. Docker contexts, plug-ins and credentials
// of the user are not read: the daemon is the one that DOCKER_HOST names, or
// else the one at the default socket.
package docker

import (
	"slices"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/kata"
)

// Name is the engine's name in studies.
const Name = "docker"

// The levels of the factor client.
const (
	byAPI = "api"
	byCLI = "cli"
)

// mechanisms are what can be taken away, from the outside in.
var mechanisms = append([]engine.Mechanism{
	engine.Exchanged(engine.Client, byCLI, byAPI),
	engine.Exchanged(engine.Network, engine.DefaultLevel, "none"),
	engine.Exchanged(engine.Seccomp, engine.DefaultLevel, "off"),
}, slices.Concat(engine.LeftOut(engine.AppArmor, engine.SELinux, engine.MaskedPaths, engine.Capabilities,
	engine.CgroupNamespace, engine.PIDNamespace, engine.IPCNamespace, engine.UTSNamespace),
	[]engine.Mechanism{engine.Exchanged(engine.Network, "none", "host"), engine.Exchanged(engine.Runtime, "runc", "crun")},
	engine.Added(engine.Init, engine.LogFile, engine.Journal, engine.Terminal, engine.NoNewPrivileges, engine.Rlimits,
		engine.OOMScore, engine.SomeLimits, engine.HealthCheck, engine.PublishedPort, engine.OwnDaemon), engine.Layered(), engine.Filled(),
	[]engine.Mechanism{engine.OtherRuntime("runc", "youki"), engine.InOwnDaemon(engine.BySystemd()), engine.InOwnDaemon(engine.Snapshots("overlay2")),
		engine.InOwnDaemon(engine.Copied("overlay2", "vfs"))},
	[]engine.Mechanism{engine.OfDaemon(engine.PacketFilter), engine.OfDaemon(engine.UserlandProxy, engine.PublishedPort),
		engine.OfDaemon(engine.Durability)})...)

// Engine is the Docker Engine, or another one with its API. Its zero value is
// not usable; see New and Balena.
type Engine struct {
	flavour
	images  *adapter.Pool[any] // by host and tag
	private *adapter.Pool[*ownDaemon]
}

func newEngine(f flavour) *Engine {
	return &Engine{flavour: f, images: &adapter.Pool[any]{}, private: &adapter.Pool[*ownDaemon]{}}
}

func (e *Engine) Info() engine.Info {
	info := engine.Info{
		Name: e.name, Title: e.title, Detached: true, RefusesCPUs: true, ByHand: e.byHand,
		Typical: 400 * time.Millisecond, Images: engine.ImagesPulled,
		Untried:   map[string][]string{engine.Runtime: kata.Levels, engine.Driver: {"systemd"}},
		Processes: e.processes, Cgroups: e.cgroups(), OCI: true, Rules: e.rules(),
		Mechanisms: mechanisms, Below: "containerd", Spans: "docker with=own-daemon (from 25)", Programs: append(slices.Clone(e.set), engine.Program{Of: engine.Runtime, Becomes: []string{initProgram}}),
		Levels: map[string][]string{
			engine.Runtime:  append([]string{engine.DefaultLevel}, runtimeLevels...),
			engine.Storage:  append([]string{engine.DefaultLevel}, storageLevels...),
			engine.Client:   {byAPI, byCLI},
			engine.Network:  {engine.DefaultLevel, "none", "host"},
			engine.Rootless: {engine.DefaultLevel, "no", "yes"},
			engine.Image:    engine.ImageLevels(),
			engine.Seccomp:  {engine.DefaultLevel, "off"},
			engine.Driver:   {engine.DefaultLevel, "cgroupfs", "systemd"},
			engine.Without:  engine.WithoutLevels(mechanisms),
			engine.With:     engine.WithLevels(mechanisms),
		},
	}
	if e.daemon == "" { // what its own daemon has, and no private ones
		info.Levels[engine.Storage] = []string{engine.DefaultLevel, "overlay2", "aufs"}
		delete(info.Levels, engine.Rootless)
		delete(info.Levels, engine.Without)
		delete(info.Levels, engine.With)
		info.Mechanisms, info.Below, info.Spans, info.Programs = nil, "", "", nil
	}
	return info
}

// storageLevels are the drivers that a daemon can have.
var storageLevels = []string{"overlay2", "overlayfs", "fuse-overlayfs", "vfs", "native", "btrfs", "zfs", "devicemapper", "aufs"}

// clientLevel is the client asked for.
func clientLevel(spec engine.Spec) string {
	if l := spec.Level(engine.Client); l != engine.DefaultLevel {
		return l
	}
	return byAPI
}
