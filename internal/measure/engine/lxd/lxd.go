// Package lxd measures LXD and Incus, which grew from one program and speak
// one API, by that API over the Unix socket and by their command lines.
//
// It is opinionated. The containers are system containers: an init starts
// first, and the payload is executed in what then runs; boot and exec are
// metrics of their own. The init is the probe's, named by lxc.init.cmd, so
// that the image is the same tree as with every other engine. The daemon is
// the user's and stays as it is: what is made lies in a project of the run's
// own, with a profile for each environment. Settings that are not asked for
// are the daemon's defaults: containers are unprivileged (a level makes them
// privileged), and their network is what the user's default profile gives.
package lxd

import (
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
)

// The levels of the factor client.
const (
	byAPI = "api"
	byCLI = "cli"
)

// variant is what tells the two engines apart.
type variant struct {
	name, title string
	client      string // the command line
	daemon      string // its name, as the kernel has it
	typical     time.Duration
	prefix      string // of its environment variables
	// sockets are where a daemon may listen: where users' do.
	sockets []string
	install string // the command that would provide it
}

// Engine is LXD or Incus. Its zero value is not usable; see New and NewIncus.
type Engine struct {
	variant
	unified bool
	holds   adapter.Pool[any] // things of ours in a daemon
}

// New gives LXD.
func New() *Engine {
	return &Engine{variant: variant{
		name: "lxd", title: "LXD", client: "lxc", daemon: "lxd", typical: 1200 * time.Millisecond, prefix: "LXD",
		sockets: []string{"/var/lib/lxd/unix.socket", "/var/snap/lxd/common/lxd/unix.socket"},
		install: "apt-get install lxd (Debian 12) or snap install lxd, then lxd init --minimal",
	}}
}

// NewIncus gives Incus.
func NewIncus() *Engine {
	return &Engine{variant: variant{
		name: "incus", title: "Incus", client: "incus", daemon: "incusd", typical: time.Second, prefix: "INCUS",
		sockets: []string{"/var/lib/incus/unix.socket"},
		install: "apt-get install incus (Debian 12: from bookworm-backports), then incus admin init --minimal",
	}}
}

// storageLevels are the drivers of storage pools.
var storageLevels = []string{"dir", "btrfs", "lvm", "zfs"}

func (e *Engine) Info() engine.Info {
	return engine.Info{
		Name: e.name, Title: e.title, Detached: true,
		Typical: e.typical, Images: engine.ImagesHanded,
		// Its monitors bear the daemon's name, with a title.
		Processes:  engine.Processes{Daemons: []string{e.daemon}, Helpers: []string{"lxc", "[lxc"}, Titles: []string{"[lxc monitor]"}},
		Rules:      rules(),
		Mechanisms: mechanisms, Below: "lxc",
		Levels: map[string][]string{
			engine.Runtime:  {"lxc"},
			engine.Storage:  append([]string{engine.DefaultLevel}, storageLevels...),
			engine.Client:   {byAPI, byCLI},
			engine.Network:  {engine.DefaultLevel, "none", "host"},
			engine.Rootless: {"no"},
			// The daemon's own default is "no" (security.privileged).
			engine.Privileged: {"no", "yes"},
			engine.Image:      engine.ImageLevels(),
			engine.Seccomp:    {engine.DefaultLevel, "off"},
			engine.Without:    engine.WithoutLevels(mechanisms),
			engine.With:       engine.WithLevels(mechanisms),
		},
	}
}
