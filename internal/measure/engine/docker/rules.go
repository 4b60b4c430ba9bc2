package docker

import "plimsoll/internal/measure/engine"

const rootlessLimits = "https://docs.docker.com/engine/security/rootless/troubleshoot/"

// rules are what no daemon of this API can have; of the flavours only Docker is
// known without root.
func (f flavour) rules() []engine.Rule {
	all := []engine.Rule{{
		When:    map[string][]string{engine.Runtime: {engine.OtherRuntimes}},
		Because: "Docker starts containers by OCI runtimes only: its LXC driver was removed in version 1.10.",
		Source:  "https://docs.docker.com/engine/deprecated/#lxc-built-in-exec-driver",
	}, {
		When:    map[string][]string{engine.Storage: {"dir", "directory", "lvm"}},
		Because: "Docker has no such storage driver: its plain directories are vfs, and it uses LVM through devicemapper.",
		Source:  "https://docs.docker.com/engine/storage/drivers/select-storage-driver/",
	}}
	if f.daemon == "" {
		return all
	}
	all = append(all, engine.OwnKernel(mechanisms, foreignKernel...)...)
	all = append(all, engine.Rule{
		When:    map[string][]string{engine.Network: {"none", "host"}, engine.With: {engine.PublishedPort}},
		Because: "A port is published into a network of the container's own.",
		Source:  "https://docs.docker.com/engine/network/port-publishing/",
	}, engine.Rule{
		When:    map[string][]string{engine.Network: {"none", "host"}, engine.Without: {engine.PacketFilter, engine.UserlandProxy}},
		Because: "The packet filter and the proxy serve networks of the container's own.",
		Source:  "https://docs.docker.com/engine/network/packet-filtering-firewalls/",
	})
	all = append(all, engine.NoHostNetwork...)
	return append(all, engine.Rule{
		When:    map[string][]string{engine.Client: {byAPI}, engine.With: {engine.Terminal}},
		Because: "The adapter reads a terminal's output by the command line alone.",
		Source:  "https://docs.docker.com/reference/cli/docker/container/run/",
	}, engine.Rule{
		When:    map[string][]string{engine.Rootless: {"yes"}, engine.Storage: {"aufs", "devicemapper", "zfs"}},
		Because: "Rootless Docker can mount overlay2, fuse-overlayfs, btrfs and vfs only.",
		Source:  rootlessLimits,
	}, engine.Rule{
		When:    map[string][]string{engine.Rootless: {"yes"}, engine.Cgroup: {"v1", "hybrid"}, engine.Driver: {"systemd", "cgroupfs"}},
		Because: "Rootless Docker makes cgroups with cgroup v2 only, where an ordinary user can be given a part of the tree.",
		Source:  rootlessLimits,
	})
}

// cgroups tells the containers, which have the same groups in all flavours.
func (f flavour) cgroups() []engine.ContainerGroup {
	return []engine.ContainerGroup{{Path: `(/docker-|/docker/)[0-9a-f]{64}(\.scope)?$`, Holder: f.holder}}
}
