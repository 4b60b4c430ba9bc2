package podman

import (
	"context"
	"slices"
	"strings"
)

// info is what we read of `podman info`.
type info struct {
	Host struct {
		CgroupManager     string   `json:"cgroupManager"`
		CgroupVersion     string   `json:"cgroupVersion"`
		CgroupControllers []string `json:"cgroupControllers"`
		Conmon            struct{ Version string }
		NetworkBackend    string `json:"networkBackend"`
		OCIRuntime        struct{ Name, Path, Version string }
		Security          struct {
			Rootless       bool
			SeccompEnabled bool `json:"seccompEnabled"`
		}
		Slirp4netns struct{ Executable, Version string }
		Pasta       struct{ Executable, Version string }
	}
	Store struct {
		GraphDriverName string            `json:"graphDriverName"`
		GraphOptions    map[string]any    `json:"graphOptions"`
		GraphRoot       string            `json:"graphRoot"`
		RunRoot         string            `json:"runRoot"`
		GraphStatus     map[string]string `json:"graphStatus"`
	}
	Version struct{ Version, APIVersion string }
}

func (p *program) info(ctx context.Context) (*info, error) {
	var i info
	if err := p.read(ctx, &i, "info", "--format", "json"); err != nil {
		return nil, wrong("asking podman (as "+p.who()+") for its state", err)
	}
	return &i, nil
}

// driver is the storage driver, where overlay is told apart by who mounts.
func (i *info) driver() string {
	for k := range i.Store.GraphOptions {
		if strings.HasSuffix(k, "mount_program") {
			return fuseOverlay
		}
	}
	return i.Store.GraphDriverName
}

// limits says whether podman can limit CPU and memory here: an ordinary user
// can't with cgroup v1, and with v2 only where the controllers were handed
// down.
func (i *info) limits() bool {
	if !i.Host.Security.Rootless {
		return true
	}
	has := i.Host.CgroupControllers
	return i.Host.CgroupVersion == "v2" && slices.Contains(has, "cpu") && slices.Contains(has, "memory")
}

func (i *info) facts() map[string]string {
	rootless := "no"
	if i.Host.Security.Rootless {
		rootless = "yes"
	}
	return map[string]string{
		"version":         i.Version.Version,
		"storage":         i.driver(),
		"storage-on":      i.Store.GraphStatus["Backing Filesystem"],
		"store":           i.Store.GraphRoot,
		"cgroup":          i.Host.CgroupVersion,
		"cgroup-driver":   i.Host.CgroupManager,
		"default-runtime": i.Host.OCIRuntime.Name,
		"rootless":        rootless,
		"network-backend": i.Host.NetworkBackend,
		"conmon":          firstLine(i.Host.Conmon.Version),
	}
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
