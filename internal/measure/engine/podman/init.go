package podman

import (
	"os"
	"os/exec"
)

// Podman's own init where its packages put it, and then those of others that it can be
// told to take: linked statically, since the image need not have their libraries.
var (
	initPlaces = []string{"/usr/libexec/podman/catatonit", "/usr/local/libexec/podman/catatonit", "/usr/local/lib/podman/catatonit", "/usr/lib/podman/catatonit"}
	inits      = []string{"catatonit", "tini-static", "docker-init"}
)

// initPath is an init that podman can mount into a container, "" where there is none.
func initPath() string {
	for _, p := range initPlaces {
		if _, err := os.Stat(p); err == nil {
			return p
		}
	}
	for _, name := range inits {
		if p, err := exec.LookPath(name); err == nil {
			return p
		}
	}
	return ""
}
