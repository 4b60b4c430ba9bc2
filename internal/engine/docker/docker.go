// Package docker measures the Docker Engine, by its API and by its command
// line.
//
// It is opinionated. The client is the official one, and it is a factor: the
// level "api" times the calls that a program would make, over a connection
// that is already open; the level "cli" times a whole `docker run --rm`. The
// daemon is the user's, local, and never reconfigured: a daemon beyond the
// network is refused, since its clock, its limits and its processes are not
// ours. Container output goes to no log (log driver "none", as for every
// engine), and PID 1 is the payload. Docker contexts, plug-ins and credentials
// of the user are not read: the daemon is the one that DOCKER_HOST names, or
// else the one at the default socket.
package docker

import (
	"sync"

	"plimsoll/internal/engine"
)

// Name is the engine's name in studies.
const Name = "docker"

// defaultHost is where a daemon listens when nobody said otherwise.
const defaultHost = "unix:///var/run/docker.sock"

// The levels of the factor client.
const (
	byAPI = "api"
	byCLI = "cli"
)

// Engine is the Docker Engine. Its zero value is not usable; see New.
type Engine struct {
	images *images
}

// New gives the engine.
func New() *Engine {
	return &Engine{images: &images{held: map[string]int{}, mu: &sync.Mutex{}}}
}

// Info is documented in engine.Engine.
func (*Engine) Info() engine.Info {
	return engine.Info{
		Name: Name, Title: "Docker", Detached: true,
		Levels: map[string][]string{
			engine.Runtime:  append([]string{engine.DefaultLevel}, runtimeLevels...),
			engine.Storage:  append([]string{engine.DefaultLevel}, storageLevels...),
			engine.Client:   {byAPI, byCLI},
			engine.Network:  {engine.DefaultLevel, "none", "host"},
			engine.Rootless: {engine.DefaultLevel, "no", "yes"},
			engine.Image:    {"payload", "busybox"},
			engine.Seccomp:  {engine.DefaultLevel, "off"},
		},
	}
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

// imageLevel is the image asked for.
func imageLevel(spec engine.Spec) string {
	if l := spec.Level(engine.Image); l != engine.DefaultLevel {
		return l
	}
	return "payload"
}
