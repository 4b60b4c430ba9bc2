// Package catalogue lists the engines that there are. To add an engine is to
// add a folder and one line here; the test of this package then asks for the
// rest.
package catalogue

import (
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/apptainer"
	"plimsoll/internal/measure/engine/baseline"
	"plimsoll/internal/measure/engine/bubblewrap"
	"plimsoll/internal/measure/engine/charliecloud"
	"plimsoll/internal/measure/engine/containerd"
	"plimsoll/internal/measure/engine/cri"
	"plimsoll/internal/measure/engine/docker"
	"plimsoll/internal/measure/engine/fake"
	"plimsoll/internal/measure/engine/lxc"
	"plimsoll/internal/measure/engine/lxd"
	"plimsoll/internal/measure/engine/nerdctl"
	"plimsoll/internal/measure/engine/nspawn"
	"plimsoll/internal/measure/engine/oci"
	"plimsoll/internal/measure/engine/podman"
	"plimsoll/internal/measure/engine/sarus"
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
