package podman

import "plimsoll/internal/measure/engine"

const storageConf = "https://github.com/containers/storage/blob/main/docs/containers-storage.conf.5.md"

func rules() []engine.Rule {
	return []engine.Rule{engine.OnlyOCI, {
		When:    map[string][]string{engine.Storage: {"dir", "directory", "lvm"}},
		Because: "Podman's storage library has no such driver: its plain directories are vfs.",
		Source:  storageConf,
	}, {
		When:    map[string][]string{engine.Rootless: {"yes"}, engine.Storage: {"aufs", "devicemapper", "zfs"}},
		Because: "Rootless Podman can use overlay (through FUSE too), btrfs and vfs only.",
		Source:  storageConf,
	}}
}

func lacks() []engine.Lack {
	return []engine.Lack{{Factor: engine.Storage, Levels: []string{"aufs", "btrfs", "devicemapper", "zfs"},
		Because: "The adapter makes no store of its own with this driver for Podman."}}
}
