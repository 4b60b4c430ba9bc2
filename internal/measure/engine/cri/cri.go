// Package cri measures any container runtime that speaks the Kubernetes
// Container Runtime Interface: containerd, CRI-O, and whatever else answers.
//
// It is opinionated. The client is the interface itself, by gRPC over a
// connection that is already open, and nothing beside it: what one server has
// and another has not is not used to measure (containerd's own client is
// another engine here). A trial is what the kubelet does for a pod with one
// container: sandbox, create, start; output is read from the log file, which
// is the interface's way to output; then the container is removed, the
// sandbox stopped and removed, so that "whole" includes the pod's end. The
// container's end comes by the server's events where it has them, else by a
// poll whose period is among the facts. The server is the user's, local, and
// never reconfigured; for builds, of it or of a runtime, a private one of its kind is
// started, unless the build is a server that runs already.
package cri

import (
	"slices"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/kata"
)

// Name is the engine's name in studies.
const Name = "cri"

// byAPI is the one client that there is.
const byAPI = "api"

// mechanisms are what can be taken away, from the outside in.
var mechanisms = append([]engine.Mechanism{
	engine.Exchanged(engine.Network, engine.DefaultLevel, "host"),
	engine.Exchanged(engine.Seccomp, engine.DefaultLevel, "off"),
}, slices.Concat(engine.LeftOut(engine.MaskedPaths, engine.Capabilities, engine.PIDNamespace, engine.IPCNamespace),
	[]engine.Mechanism{engine.Exchanged(engine.Runtime, "runc", "crun")},
	engine.Added(engine.NoNewPrivileges, engine.OOMScore, engine.SomeLimits), engine.Layered(), engine.Filled(),
	[]engine.Mechanism{engine.OtherRuntime("runc", "youki"), engine.BySystemd()})...)

// masksAlways: a list without paths is no list on the wire.
var masksAlways = engine.Rule{
	When:    map[string][]string{engine.Endpoint: {crio}, engine.Without: {engine.MaskedPaths}},
	Because: "CRI-O hides its own paths below /proc where a request names none, unless the container is privileged.",
	Source:  "https://github.com/cri-o/cri-o/blob/main/internal/factory/container/container.go",
}

// Engine is the Container Runtime Interface. Its zero value is not usable;
// see New.
type Engine struct {
	images adapter.Pool[*provided]  // by socket, run and name
	own    adapter.Pool[*ownServer] // by run
	// sockets, where given, replace the endpoints that are looked at.
	sockets []string
}

// New gives the engine.
func New() *Engine {
	return &Engine{}
}

// The levels of the factor endpoint.
const (
	containerd = "containerd"
	crio       = "crio"
)

// storageLevels are what servers keep root file systems with: containerd's
// snapshotters, and the drivers of CRI-O's store.
var storageLevels = []string{"overlayfs", "overlay", "native", "vfs", "btrfs", "erofs", "blockfile", "devmapper", "zfs"}

func (*Engine) Info() engine.Info {
	return engine.Info{
		Name: Name, Title: "CRI", Detached: true,
		Typical: 500 * time.Millisecond, Images: engine.ImagesPulled,
		Untried:   map[string][]string{engine.Runtime: kata.Levels, engine.Driver: {"systemd"}},
		Processes: engine.Processes{Daemons: []string{"crio", "containerd"}, Helpers: append([]string{"conmon", "containerd-shim"}, kata.Processes...)},
		Cgroups: []engine.ContainerGroup{
			{Whose: "CRI-O", Path: `/crio-[0-9a-f]{64}(\.scope)?$`},
			{Whose: "containerd", Path: `/cri-containerd-[0-9a-f]{64}\.scope$|/k8s\.io/[0-9a-f]{64}$|/plimsoll-[a-z0-9]{8}-cri(-[0-9a-f]{6})?/[0-9a-f]{64}$`}, // k8s.io is its namespace for the CRI
		},
		OCI: true, Rules: append(engine.OwnKernel(mechanisms, append([]string{"runsc"}, kata.Levels...)...), engine.OnlyOCI, masksAlways),
		Mechanisms: mechanisms, Below: "oci", Spans: "cri endpoint=crio", Programs: append(set(), engine.Program{Of: engine.Runtime}),
		Levels: map[string][]string{
			engine.Endpoint: {engine.DefaultLevel, containerd, crio},
			engine.Runtime:  append([]string{engine.DefaultLevel}, runtimeLevels...),
			engine.Storage:  append([]string{engine.DefaultLevel}, storageLevels...),
			engine.Client:   {byAPI},
			engine.Network:  {engine.DefaultLevel, "host", "none"},
			engine.Rootless: {"no"},
			engine.Image:    engine.ImageLevels(),
			engine.Seccomp:  {engine.DefaultLevel, "off"},
			engine.Driver:   {engine.DefaultLevel, "cgroupfs", "systemd"},
			engine.Without:  engine.WithoutLevels(mechanisms),
			engine.With:     engine.WithLevels(mechanisms),
		},
	}
}
