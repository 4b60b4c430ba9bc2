package catalogue

// Rule is a combination that can't be on any machine, whatever is installed:
// those for which all of When holds.
type Rule struct {
	// When gives the levels by factor, or the engines by "engine".
	When map[string][]string
	// Because is a sentence, Source the address where it is documented.
	Because, Source string
}

// What several rules name.
var (
	ociRuntimes = []string{"runc", "crun", "youki", "runsc", "kata", "kata-qemu", "kata-clh", "kata-fc"}
	kata        = []string{"kata", "kata-qemu", "kata-clh", "kata-fc"}
	dockers     = []string{"docker", "balena"}
	lxds        = []string{"lxd", "incus"}
)

const (
	storageConf = "https://github.com/containers/storage/blob/main/docs/containers-storage.conf.5.md"
	lxdDrivers  = "https://documentation.ubuntu.com/lxd/latest/reference/storage_drivers/"
	rootless    = "https://docs.docker.com/engine/security/rootless/troubleshoot/"
)

// Rules gives the rules of the field. What depends on a version, a kernel or a
// package is none: Detect finds that. The first rule that forbids a
// combination is the one that is named.
func Rules() []Rule {
	return []Rule{
		{
			When:    map[string][]string{"engine": {"lxd", "incus", "lxc"}, "runtime": ociRuntimes},
			Because: "LXD, Incus and LXC start containers by liblxc, and take no OCI runtime.",
			Source:  "https://documentation.ubuntu.com/lxd/latest/explanation/instances/",
		}, {
			When:    map[string][]string{"engine": dockers, "runtime": {"lxc"}},
			Because: "Docker starts containers by OCI runtimes only: its LXC driver was removed in version 1.10.",
			Source:  "https://docs.docker.com/engine/deprecated/#lxc-built-in-exec-driver",
		}, {
			When:    map[string][]string{"engine": {"podman", "containerd", "cri", "nerdctl", "oci"}, "runtime": {"lxc"}},
			Because: "LXC does not speak the interface of an OCI runtime, which is the one that this engine calls.",
			Source:  "https://github.com/opencontainers/runtime-spec/blob/main/implementations.md",
		}, {
			When:    map[string][]string{"engine": dockers, "storage": {"dir", "directory", "lvm"}},
			Because: "Docker has no such storage driver: its plain directories are vfs, and it uses LVM through devicemapper.",
			Source:  "https://docs.docker.com/engine/storage/drivers/select-storage-driver/",
		}, {
			When:    map[string][]string{"engine": {"podman"}, "storage": {"dir", "directory", "lvm"}},
			Because: "Podman's storage library has no such driver: its plain directories are vfs.",
			Source:  storageConf,
		}, {
			When: map[string][]string{"engine": lxds, "storage": {"aufs", "devicemapper", "overlay", "overlay2", "overlayfs", "fuse-overlayfs", "vfs", "native"}},
			Because: "LXD and Incus keep containers in storage pools (dir, btrfs, lvm, zfs, ceph): there is no layer that an overlay could be laid over, " +
				"and copied directories are called dir.",
			Source: lxdDrivers,
		}, {
			When:    map[string][]string{"runtime": {"kata-fc"}, "storage": {"aufs", "btrfs", "overlay", "overlay2", "overlayfs", "fuse-overlayfs", "vfs", "native", "zfs", "erofs"}},
			Because: "Firecracker shares no directory with its guest: Kata with it needs a storage driver that gives each container a block device, such as devicemapper.",
			Source:  "https://github.com/kata-containers/documentation/wiki/Initial-release-of-Kata-Containers-with-Firecracker-support",
		}, {
			When:    map[string][]string{"runtime": kata, "network": {"host"}},
			Because: "A guest of Kata Containers can't be in the host's network: its own kernel does its networking.",
			Source:  "https://github.com/kata-containers/kata-containers/blob/main/docs/Limitations.md#docker---nethost",
		}, {
			When:    map[string][]string{"engine": {"docker"}, "rootless": {"yes"}, "storage": {"aufs", "devicemapper", "zfs"}},
			Because: "Rootless Docker can mount overlay2, fuse-overlayfs, btrfs and vfs only.",
			Source:  rootless,
		}, {
			When:    map[string][]string{"engine": {"podman"}, "rootless": {"yes"}, "storage": {"aufs", "devicemapper", "zfs"}},
			Because: "Rootless Podman can use overlay (through FUSE too), btrfs and vfs only.",
			Source:  storageConf,
		}, {
			When:    map[string][]string{"engine": {"docker"}, "rootless": {"yes"}, "cgroup": {"v1", "hybrid"}, "cgroup-driver": {"systemd", "cgroupfs"}},
			Because: "Rootless Docker makes cgroups with cgroup v2 only, where an ordinary user can be given a part of the tree.",
			Source:  rootless,
		}, {
			When:    map[string][]string{"engine": {"charliecloud"}, "network": {"none"}},
			Because: "ch-run makes no network namespace: its containers have the host's network.",
			Source:  "https://charliecloud.io/latest/ch-run.html",
		},
	}
}

// Lack is what an engine can do and its adapter can't.
type Lack struct {
	Engines []string // empty: every engine that has the factor
	Factor  string
	Levels  []string
	Because string
}

// Lacks gives what the adapters do not have yet, as far as bundled studies
// name it. An entry means nothing once the adapter has the level.
func Lacks() []Lack {
	return []Lack{
		{Engines: []string{"podman"}, Factor: "storage", Levels: []string{"aufs", "btrfs", "devicemapper", "zfs"},
			Because: "The adapter makes no store of its own with this driver for Podman."},
		{Factor: "runtime", Levels: []string{"kata", "kata-qemu", "kata-clh", "kata-fc"},
			Because: "Kata Containers have no OCI command line from version 2 on, and this engine calls its runtimes by one."},
	}
}
