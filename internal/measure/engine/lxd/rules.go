package lxd

import "plimsoll/internal/measure/engine"

func rules() []engine.Rule {
	return []engine.Rule{keepsAll, {
		When:    map[string][]string{engine.Runtime: {engine.OCIRuntimes}},
		Because: "LXD and Incus start containers by liblxc, and take no OCI runtime.",
		Source:  "https://documentation.ubuntu.com/lxd/latest/explanation/instances/",
	}, {
		When: map[string][]string{engine.Storage: {"aufs", "devicemapper", "overlay", "overlay2", "overlayfs", "fuse-overlayfs", "vfs", "native"}},
		Because: "LXD and Incus keep containers in storage pools (dir, btrfs, lvm, zfs, ceph): there is no layer that an overlay could be laid over, " +
			"and copied directories are called dir.",
		Source: "https://documentation.ubuntu.com/lxd/latest/reference/storage_drivers/",
	}}
}
