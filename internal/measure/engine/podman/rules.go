package podman

import "plimsoll/internal/measure/engine"

const storageConf = "https://github.com/containers/storage/blob/main/docs/containers-storage.conf.5.md"

func rules() []engine.Rule {
	return append(engine.OwnKernel(mechanisms, "runsc"), []engine.Rule{engine.OnlyOCI, {
		When:    map[string][]string{engine.Storage: {"dir", "directory", "lvm"}},
		Because: "Podman's storage library has no such driver: its plain directories are vfs.",
		Source:  storageConf,
	}, {
		When:    map[string][]string{engine.Rootless: {"yes"}, engine.Storage: {"aufs", "devicemapper", "zfs"}},
		Because: "Rootless Podman can use overlay (through FUSE too), btrfs and vfs only.",
		Source:  storageConf,
	}, {
		When:    map[string][]string{engine.Runtime: {"runc"}, engine.Without: {engine.OwnCgroup}},
		Because: "Of the runtimes only crun can run a container of root's in the control group of who calls it.",
		Source:  "https://github.com/containers/crun/blob/main/crun.1.md",
	}, {
		When:    map[string][]string{engine.Without: {engine.PIDNamespace + engine.And + engine.OwnCgroup}},
		Because: "Podman ends a container without a control group by its PID namespace, and refuses one that has neither.",
		Source:  "https://docs.podman.io/en/latest/markdown/podman-run.1.html#cgroups-how",
	}, {
		When:    map[string][]string{engine.Network: {"none", "host"}, engine.With: {engine.PublishedPort}},
		Because: "A port is published into a network of the container's own.",
		Source:  "https://docs.podman.io/en/latest/markdown/podman-run.1.html",
	}, {
		When:    map[string][]string{engine.Client: {byRun, bySteps}, engine.With: {engine.Volatile}},
		Because: "The command line has no option for it: podman run --rm mounts a volatile overlay by itself, and podman create none.",
		Source:  "https://github.com/containers/podman/blob/main/pkg/specgen/specgen.go",
	}, {
		When:    map[string][]string{engine.Storage: {vfs, btrfs, zfs, fuseOverlay}, engine.With: {engine.Volatile}},
		Because: "Only the kernel's overlay can be volatile.",
		Source:  "https://docs.kernel.org/filesystems/overlayfs.html#volatile-mount",
	}, {
		When:    map[string][]string{engine.Client: {byAPI}, engine.With: {engine.Terminal}},
		Because: "The adapter reads a terminal's output by the command line alone.",
		Source:  "https://docs.podman.io/en/latest/markdown/podman-run.1.html",
	}}...)
}

func lacks() []engine.Lack {
	return []engine.Lack{{Factor: engine.Storage, Levels: []string{"aufs", "btrfs", "devicemapper", "zfs"},
		Because: "The adapter makes no store of its own with this driver for Podman."}}
}
