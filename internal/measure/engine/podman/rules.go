package podman

import "plimsoll/internal/measure/engine"

const storageConf = "https://github.com/containers/storage/blob/main/docs/containers-storage.conf.5.md"

func rules() []engine.Rule {
	return []engine.Rule{engine.OnlyOCI, engine.OwnKernel(mechanisms, "runsc"), {
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
	}}
}

func lacks() []engine.Lack {
	return []engine.Lack{{Factor: engine.Storage, Levels: []string{"aufs", "btrfs", "devicemapper", "zfs"},
		Because: "The adapter makes no store of its own with this driver for Podman."}}
}
