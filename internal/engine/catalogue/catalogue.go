// Package catalogue lists the engines that there are. To add an engine is to
// add a folder and one line here; the test of this package then asks for the
// rest.
package catalogue

import (
	"plimsoll/internal/engine"
	"plimsoll/internal/engine/apptainer"
	"plimsoll/internal/engine/baseline"
	"plimsoll/internal/engine/bubblewrap"
	"plimsoll/internal/engine/charliecloud"
	"plimsoll/internal/engine/containerd"
	"plimsoll/internal/engine/cri"
	"plimsoll/internal/engine/docker"
	"plimsoll/internal/engine/fake"
	"plimsoll/internal/engine/lxc"
	"plimsoll/internal/engine/lxd"
	"plimsoll/internal/engine/nerdctl"
	"plimsoll/internal/engine/nspawn"
	"plimsoll/internal/engine/oci"
	"plimsoll/internal/engine/podman"
	"plimsoll/internal/engine/sarus"
)

// All gives every engine, in the order in which they are shown.
func All() []engine.Engine {
	return []engine.Engine{
		baseline.Host{},
		baseline.Native{},
		baseline.Floor{},
		oci.New(),
		docker.New(),
		docker.Balena(),
		podman.New(),
		containerd.New(),
		cri.New(),
		charliecloud.New(),
		apptainer.New(),
		bubblewrap.New(),
		nspawn.New(),
		lxd.New(),
		lxd.NewIncus(),
		lxc.New(),
		nerdctl.New(),
		sarus.New(),
		fake.New(),
	}
}

// ByName finds an engine.
func ByName(name string) (engine.Engine, bool) {
	for _, e := range All() {
		if e.Info().Name == name {
			return e, true
		}
	}
	return nil, false
}
