package enginetest

import (
	"sync"
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/canary"
	"plimsoll/internal/measure/engine/kittest"
)

// planted are the kinds of canaries that live in an engine, or beside it. Where a
// daemon holds users' containers there must be some, or nil says that they are
// another engine's.
var planted = map[string][]string{
	"docker": {"docker"}, "podman": {"podman", "podman-rootless"},
	"containerd": {"containerd"}, "nerdctl": {"containerd"}, "cri": {"containerd"},
	"lxd": {"lxd"}, "incus": {"incus"}, "lxc": {"lxc"},
	"balena": nil, // its API is Docker's
}

// inEngine: an engine has its canaries in the first suite that is tried whole;
// they take seconds, and further configurations remove by the same code.
var inEngine sync.Map

// plantFor plants what a user may have that looks like ours, in the engine and
// beside it. All is to be there at the end.
func plantFor(t *testing.T, e engine.Engine, s *suite) *canary.Flock {
	t.Helper()
	kinds := []string{"files", "cgroups", "processes", "mounts"}
	name := e.Info().Name
	if _, ok := planted[name]; !ok && len(e.Info().Processes.Daemons) > 0 {
		t.Errorf("%s has a daemon, which may hold a user's containers: plant canaries in it (package canary), and name them in planted", name)
	}
	if s.opts.Only == nil {
		if _, had := inEngine.LoadOrStore(name, true); !had {
			kinds = append(kinds, planted[name]...)
		}
	}
	return canary.Plant(t, s.kit, kittest.RunID(), kinds...)
}
