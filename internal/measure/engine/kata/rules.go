package kata

import "plimsoll/internal/measure/engine"

// Processes are the beginnings of the names of what a guest needs on the host.
var Processes = []string{"qemu", "firecracker", "cloud-hyperviso", "virtiofsd"}

// Rules are what can't be with any engine.
var Rules = []engine.Rule{{
	When: map[string][]string{engine.Runtime: {"kata-fc"},
		engine.Storage: {"aufs", "btrfs", "overlay", "overlay2", "overlayfs", "fuse-overlayfs", "vfs", "native", "zfs", "erofs"}},
	Because: "Firecracker shares no directory with its guest: Kata with it needs a storage driver that gives each container a block device, such as devicemapper.",
	Source:  "https://github.com/kata-containers/documentation/wiki/Initial-release-of-Kata-Containers-with-Firecracker-support",
}, {
	When:    map[string][]string{engine.Runtime: Levels, engine.Network: {"host"}},
	Because: "A guest of Kata Containers can't be in the host's network: its own kernel does its networking.",
	Source:  "https://github.com/kata-containers/kata-containers/blob/main/docs/Limitations.md#docker---nethost",
}}

// Lacks are what engines have that call their runtimes by a command line.
var Lacks = []engine.Lack{{Factor: engine.Runtime, Levels: Levels,
	Because: "Kata Containers have no OCI command line from version 2 on, and this engine calls its runtimes by one."}}
