// Package podman measures Podman by its command line and by its REST service,
// as root and as an ordinary user.
//
// It is opinionated. One `podman run --rm` is what users type and is the
// default; the level "steps" of the factor client is the same life in three
// commands (create, start --attach, rm), which tells its phases apart, and
// "api" is what podman-remote does: the libpod endpoints of a service, the
// user's where that one answers, else one of ours for as long as the
// environment. Images are loaded into the user's own store where no storage driver was asked for,
// since that is what is to be measured; a named driver gets a store of ours,
// so that the user's never holds two kinds. Container output goes to no log,
// as for every engine, and PID 1 is the payload. There is no daemon but that
// service, which keeps no state of its own; what stays by design is the pause
// process of an ordinary user, which is ended only where this run has brought
// it up.
package podman

import (
	"slices"
	"sync"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/private"
)

// Name is the engine's name in studies.
const Name = "podman"

// The levels of the factor client.
const (
	byRun   = "cli"
	bySteps = "steps"
	byAPI   = "api"
)

// mechanisms are what can be taken away, from the outside in.
var mechanisms = append([]engine.Mechanism{
	engine.Exchanged(engine.Network, engine.DefaultLevel, "none"),
	engine.Exchanged(engine.Seccomp, engine.DefaultLevel, "off"),
}, slices.Concat(engine.LeftOut(engine.AppArmor, engine.SELinux, engine.NameFiles, engine.MaskedPaths, engine.Capabilities,
	engine.CgroupNamespace, engine.PIDNamespace, engine.IPCNamespace, engine.UTSNamespace),
	[]engine.Mechanism{engine.AskedFor(engine.Durability), engine.Exchanged(engine.Network, "none", "host"), engine.Exchanged(engine.Client, byRun, byAPI),
		engine.Exchanged(engine.Runtime, "runc", "crun")}, engine.LeftOut(engine.OwnCgroup),
	engine.Added(engine.Init, engine.LogFile, engine.Journal, engine.Terminal, engine.NoNewPrivileges, engine.Rlimits,
		engine.OOMScore, engine.SomeLimits, engine.PublishedPort, engine.Volatile), engine.Layered(), engine.Filled(),
	[]engine.Mechanism{engine.Copied(overlay, vfs), engine.Snapshots(overlay)})...)

// Engine is Podman. See New.
type Engine struct {
	mu     sync.Mutex
	images adapter.Pool[any]              // by store and tag
	groups map[string]int                 // environments by the parent of their control groups
	pauses map[string]*pause              // by runtime directory
	fs     map[string]*private.FileSystem // of stores of ours, by their directory
	stores map[string]int                 // environments that use a store of ours, by its root
}

// New gives the engine.
func New() *Engine {
	return &Engine{groups: map[string]int{}, pauses: map[string]*pause{}, stores: map[string]int{}, fs: map[string]*private.FileSystem{}}
}

func (*Engine) Info() engine.Info {
	return engine.Info{
		Name: Name, Title: "Podman", Detached: true,
		Typical: 400 * time.Millisecond, Images: engine.ImagesPulled,
		Processes: engine.Processes{Helpers: []string{"conmon", "slirp4netns", "pasta", "rootlessport", "fuse-overlayfs"}},
		Cgroups:   []engine.ContainerGroup{{Path: `/libpod-[0-9a-f]{64}(\.scope)?$`}},
		OCI:       true, Rules: rules(), Lacks: lacks(),
		Mechanisms: mechanisms, Below: "oci", Programs: programs(),
		Levels: map[string][]string{
			engine.Runtime:  {engine.DefaultLevel, "runc", "crun", "runsc"},
			engine.Storage:  {engine.DefaultLevel, overlay, vfs, fuseOverlay, btrfs, zfs},
			engine.Client:   {byRun, bySteps, byAPI},
			engine.Network:  {engine.DefaultLevel, "none", "host", "bridge"},
			engine.Rootless: {engine.DefaultLevel, "no", "yes"},
			engine.Image:    engine.ImageLevels(),
			engine.Seccomp:  {engine.DefaultLevel, "off"},
			engine.Without:  engine.WithoutLevels(mechanisms),
			engine.With:     engine.WithLevels(mechanisms),
		},
	}
}

func clientLevel(spec engine.Spec) string {
	if l := spec.Level(engine.Client); l != engine.DefaultLevel {
		return l
	}
	return byRun
}
