package docker

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/kata"
)

// flavour is what differs between Docker and the engines that have its API.
type flavour struct {
	name, title string
	sockets     []string // where the daemon listens when nobody said otherwise
	variable    string   // of the environment that names another one
	program     string   // the command line
	cliPackage  string   // the command that installs it
	daemon      string   // the daemon's program; "" where none of ours is started
	restart     string   // what helps when the daemon does not answer
	config      string   // the file that the daemon is configured by
	group       string   // whose members may talk to the daemon
	install     string
	set         []engine.Program // of a private daemon, of which there may be builds
	processes   engine.Processes
	holder      string // what holds its containers is named so, where others hold alike ones
	byHand      string // the version that the adapter was tried with by hand; "" where the tests do
	// unpacksAlong: layers are unpacked while they come, so that of a pull's
	// parts none is the transfer, the verification or the unpacking alone.
	unpacksAlong bool
}

// containerdProgram is what dockerd starts.
const containerdProgram = "containerd"

var plain = flavour{
	name: Name, title: "Docker", sockets: []string{"/var/run/docker.sock"}, variable: "DOCKER_HOST",
	program: "docker", cliPackage: "apt-get install docker-cli", daemon: "dockerd",
	restart: "systemctl restart docker, or start dockerd", install: "apt-get install docker.io",
	config: "/etc/docker/daemon.json", group: "docker",
	set: []engine.Program{{Name: "dockerd", Helps: "Usage: dockerd [OPTIONS]", Stays: true, Files: []string{configFile}, Variables: true, Joins: true}, {Name: containerdProgram, Stays: true},
		{Name: "containerd-shim-runc-v2", Version: "-v", Helps: "namespace that owns the shim"},
		{Name: initProgram, Says: "tini", With: map[string]string{engine.With: engine.Init}}},
	processes: engine.Processes{Daemons: []string{"dockerd", "containerd", "buildkitd"},
		Helpers: append([]string{"containerd-shim", "docker-proxy", "slirp4netns", "rootlessport", "fuse-overlayfs"}, kata.Processes...)},
}

// balena is balenaEngine: Docker's API on a socket of its own, with a client
// of its own. DOCKER_HOST, which that client reads too, would name the user's
// Docker on a machine that has both; so the variable is ours.
var balena = flavour{
	name: "balena", title: "balenaEngine", sockets: []string{"/var/run/balena-engine.sock", "/var/run/balena.sock"}, variable: "BALENA_HOST",
	program: "balena-engine", cliPackage: "see https://docs.balena.io/reference/balena-engine",
	restart: "systemctl restart balena-engine", install: "see https://docs.balena.io/reference/balena-engine",
	config: "/etc/balena-engine/daemon.json", group: "balena-engine", byHand: "20.10.44", unpacksAlong: true,
	// Its containerd and its shim have one name, of which the kernel keeps
	// balena-engine-c: as a helper's it would part the daemon from itself.
	processes: engine.Processes{Daemons: []string{"balenad", "balenad-engine"}}, holder: "balena",
}

// New gives Docker.
func New() *Engine { return newEngine(plain) }

// Balena gives balenaEngine.
func Balena() *Engine { return newEngine(balena) }

// host is the address of the user's daemon: of the one that a build names, where the
// environment runs such.
func (f flavour) host(kit *engine.Kit) string {
	if s := kit.Joined(f.daemon); s != "" {
		return "unix://" + s
	}
	if h := kit.Getenv(f.variable); h != "" {
		return h
	}
	for _, s := range f.sockets {
		if kit.Root && exists(s) || unix.Access(s, unix.W_OK) == nil {
			return "unix://" + s
		}
	}
	// An ordinary user who may not talk to root's daemon may have one.
	if f.daemon != "" && !kit.Root && kit.User != nil && kit.User.RuntimeDir != "" {
		if s := filepath.Join(kit.User.RuntimeDir, "docker.sock"); exists(s) {
			return "unix://" + s
		}
	}
	return "unix://" + f.sockets[0]
}

// restarts is what helps where the daemon at an address does not answer. A service's
// command is for the usual address alone.
func (f flavour) restarts(host string) string {
	at := strings.TrimPrefix(strings.TrimPrefix(host, "unix://"), "/var")
	for _, s := range f.sockets {
		if strings.TrimPrefix(s, "/var") == at {
			return f.restart
		}
	}
	return "restart the daemon that serves " + host
}
