// Package containerd measures containerd by its own API, as its clients use
// it: without Docker, without a CRI.
//
// It is opinionated. The client is the official one, and what is timed is what
// a program that uses it does: a snapshot and a container record, a task whose
// output comes by FIFOs, start, wait, delete. Only services are used that
// containerd 1.6 has. The daemon is the user's, local, and never reconfigured;
// everything of a run is in namespaces of the run's own. Where it lacks a snapshotter
// that the machine could have, a private daemon is started for it. containerd
// has no network, no init and no log: those are its managers' work. A network
// is made by CNI, as they do, unless none or the host's is asked for. The
// container's configuration is Docker's default as far as containerd's is not
// the same already.
package containerd

import (
	"slices"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/cni"
	"plimsoll/internal/measure/engine/containerdclient"
	"plimsoll/internal/measure/engine/kata"
)

// Name is the engine's name in studies.
const Name = "containerd"

// mechanisms are what can be taken away, from the outside in.
var mechanisms = append([]engine.Mechanism{
	engine.Exchanged(engine.Network, engine.DefaultLevel, "none"),
	engine.Exchanged(engine.Seccomp, engine.DefaultLevel, "off"),
}, slices.Concat(engine.LeftOut(engine.MaskedPaths, engine.SmallMounts, engine.Capabilities, engine.Keyring, engine.PivotRoot,
	engine.CgroupNamespace, engine.PIDNamespace, engine.IPCNamespace, engine.UTSNamespace),
	[]engine.Mechanism{engine.Exchanged(engine.Network, "none", "host"), engine.Exchanged(engine.Runtime, "runc", "crun")},
	engine.Added(engine.NoNewPrivileges, engine.Rlimits, engine.OOMScore, engine.SomeLimits, engine.Volatile, engine.OwnDaemon), engine.Layered(), engine.Filled(),
	[]engine.Mechanism{engine.Copied("overlayfs", "native"),
		engine.Snapshots("overlayfs"), engine.OtherRuntime("runc", "youki"), engine.BySystemd(),
		engine.OfDaemon(engine.Durability)})...)

// byOption are levels that a client asks the daemon for; the others are a private daemon's.
func byOption(levels []string) []string {
	return slices.DeleteFunc(levels[1:], func(l string) bool { return l == engine.OwnDaemon || l == engine.Durability })
}

// byCLIAll: ctr has no options for what a client of the API can say.
var byCLIAll = engine.Rule{
	When:    map[string][]string{engine.Client: {byCLI}, engine.Without: byOption(engine.WithoutLevels(mechanisms))},
	Because: "ctr run has no option that leaves it out.",
	Source:  "https://github.com/containerd/containerd/tree/main/cmd/ctr",
}

var byCLINothing = engine.Rule{
	When:    map[string][]string{engine.Client: {byCLI}, engine.With: byOption(engine.WithLevels(mechanisms))},
	Because: "The adapter asks for it by the API alone.",
	Source:  "https://github.com/containerd/containerd/tree/main/cmd/ctr",
}

// Engine is containerd. Its zero value is not usable; see New.
type Engine struct {
	spaces adapter.Pool[any]        // namespaces that hold images, by socket and name
	images adapter.Pool[any]        // by socket and tag
	own    adapter.Pool[*ownDaemon] // by run and snapshotter

	networks cni.Networks
}

// New gives the engine.
func New() *Engine { return &Engine{} }

func (*Engine) Info() engine.Info {
	return engine.Info{
		Name: Name, Title: "containerd", Detached: true,
		Typical: 300 * time.Millisecond, Images: engine.ImagesPulled,
		Untried:   map[string][]string{engine.Runtime: kata.Levels, engine.Driver: {"systemd"}},
		Processes: engine.Processes{Daemons: []string{"containerd"}, Helpers: append([]string{"containerd-shim"}, kata.Processes...)},
		OCI:       true, Rules: slices.Concat(engine.OwnKernel(mechanisms, append([]string{"runsc"}, kata.Levels...)...), []engine.Rule{engine.OnlyOCI, byCLIAll, byCLINothing}, engine.NoHostNetwork, []engine.Rule{onlyOverlay}),
		Mechanisms: mechanisms, Below: "oci", Spans: "containerd (from 2.0)", Programs: append(set(), engine.Program{Of: engine.Runtime}),
		Levels: map[string][]string{
			engine.Runtime:  append([]string{engine.DefaultLevel}, runtimeLevels...),
			engine.Storage:  append([]string{engine.DefaultLevel}, storageLevels...),
			engine.Client:   {byAPI, byCLI},
			engine.Network:  append([]string{engine.DefaultLevel, "none", "host"}, cni.Kinds()...),
			engine.Rootless: {"no"},
			engine.Image:    engine.ImageLevels(),
			engine.Seccomp:  {engine.DefaultLevel, "off"},
			engine.Driver:   {"cgroupfs", "systemd"},
			engine.Without:  engine.WithoutLevels(mechanisms),
			engine.With:     engine.WithLevels(mechanisms),
		},
	}
}

// The programs of a private daemon of which the user may have builds.
const (
	daemonProgram = "containerd"
	shimProgram   = "containerd-shim-runc-v2"
)

func set() []engine.Program {
	return []engine.Program{{Name: daemonProgram, Stays: true, Files: []string{containerdclient.ConfigFile}, Variables: true, Joins: true},
		{Name: shimProgram, Version: "-v", Helps: "namespace that owns the shim"}}
}

// The levels of the factor client.
const (
	byAPI = "api"
	byCLI = "cli" // the program ctr
)

// runtimeLevels are the runtimes that a study can ask for by name.
var runtimeLevels = append([]string{"runc", "crun", "youki", "runsc"}, kata.Levels...)

// storageLevels are snapshotters.
var storageLevels = []string{"overlayfs", "native", "btrfs", "erofs", "blockfile", "devmapper", "zfs", "fuse-overlayfs"}

// defaultStorage is what the client takes when nothing is named.
const defaultStorage = "overlayfs"

func storage(spec engine.Spec) string {
	if l := spec.Level(engine.Storage); l != engine.DefaultLevel {
		return l
	}
	return defaultStorage
}

func hostNetwork(spec engine.Spec) bool { return spec.Level(engine.Network) == "host" }
