package study

import (
	"reflect"
	"testing"
	"time"

	"plimsoll/internal/common/require"
)

// The bundled quick study names what a user will look for, each once.
func TestQuick(t *testing.T) {
	cat := market()
	s, err := Load("quick", cat)
	require.NoError(t, err)
	p, err := Expand(s, cat, Options{})
	require.NoError(t, err)
	want := []string{
		"native", "floor", "host",
		"oci/runc", "oci/crun", "oci/runsc",
		"docker/runc/api", "docker/runc/cli", "docker/crun/api", "docker/runsc/api",
		"podman/crun/overlay/rootful", "podman/runc/overlay/rootful", "podman/crun/overlay/rootless", "podman/runc/overlay/rootless",
		"containerd/runc", "containerd/crun", "bubblewrap",
		"charliecloud/directory/network-host", "charliecloud/squashfs/network-host",
		"apptainer/sif/rootful", "apptainer/sandbox/rootful",
		"apptainer/sif/network-host/rootless", "apptainer/sandbox/network-host/rootless",
		"docker/runc/cli/network-default", "podman/crun/network-default/rootful",
	}
	if got := envIDs(p); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
	// Whole times that are typical, clean-up and quiet check included: the
	// study promises to be over in 90 s on two cores.
	typical := map[string]time.Duration{
		"native": 100 * time.Millisecond, "floor": 100 * time.Millisecond, "host": 100 * time.Millisecond, "charliecloud": 130 * time.Millisecond,
		"oci": 180 * time.Millisecond, "docker": 430 * time.Millisecond, "podman": 430 * time.Millisecond, "apptainer": 220 * time.Millisecond,
		"containerd": 330 * time.Millisecond, "bubblewrap": 130 * time.Millisecond,
	}
	if d := p.Estimate(lives(typical)); d > 80*time.Second {
		t.Errorf("quick takes %s", d)
	}
}
