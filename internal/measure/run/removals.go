package run

import (
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host"
)

// removal is what is removed by which proof.
type removal struct {
	Kinds []string // of the ledger's or the census'; none for what is in neither
	What  string
	By    string
	Proof string
}

// removals are all kinds of things that a run, the next one or a clean-up removes; what can't
// be proved stays. docs/clean-up.md has them as a table.
var removals = []removal{
	{Kinds: []string{engine.KindContainer}, What: "container, pod, instance", By: "the engine",
		Proof: "the ledger has its name and place, and it carries the run's label. Without labels (OCI runtimes, LXC, Apptainer, systemd-nspawn): its state or root directory is in the run's folder, or its name was free before it was entered"},
	{Kinds: []string{engine.KindImage}, What: "image's tag", By: "the engine",
		Proof: "the ledger has the whole tag, which ends in the run's id; never by force"},
	{Kinds: []string{engine.KindVolume}, What: "volume", By: "the engine, with its container", Proof: "the run's label"},
	{Kinds: []string{engine.KindNamespace}, What: "containerd's namespace, with what is in it", By: "containerd",
		Proof: "the ledger has its name, and it carries the run's label"},
	{Kinds: []string{engine.KindProject, engine.KindProfile, engine.KindPool}, What: "project, profile, storage pool of LXD or Incus", By: "the daemon",
		Proof: "the ledger has its name, and it carries the run's label"},
	{Kinds: []string{engine.KindMount, string(host.KindMount)}, What: "mount", By: "Plimsoll",
		Proof: "the mount point is in the run's folder, in the ledger, or in containerd's directory for the run's namespace"},
	{Kinds: []string{engine.KindCgroup, string(host.KindCgroup)}, What: "control group", By: "Plimsoll",
		Proof: "its path is in the ledger, is the one that the engine gives a recorded container, or is below such a path"},
	{Kinds: []string{engine.KindNetNS, string(host.KindNetNS)}, What: "network namespace's file", By: "Podman's adapter",
		Proof: "a container's bundle in the run's store names it"},
	{Kinds: []string{engine.KindLink, string(host.KindLink)}, What: "network link", By: "Plimsoll", Proof: "the ledger has its exact name, which was free"},
	{Kinds: []string{engine.KindRule}, What: "rule of the packet filter", By: "Plimsoll", Proof: "the ledger has the bridge or the network that it is for, and the rule has the run's comment or table"},
	{Kinds: []string{engine.KindSetting}, What: "kernel setting", By: "Plimsoll", Proof: "the ledger has its former value, of this boot and network namespace"},
	{Kinds: []string{engine.KindOwner}, What: "the owner of /dev/null", By: "Plimsoll", Proof: "the ledger has root as its former owner, of this boot, device and inode"},
	{Kinds: []string{engine.KindProcess, string(host.KindProcess)}, What: "process", By: "Plimsoll",
		Proof: "its program or root directory is in the run's folder; it is in a control group of the run; it has the run's secret and its program is one that engines put next to containers; or it descends from such a process. A containerd shim works in the directory of the run's namespace"},
	{Kinds: []string{engine.KindDaemon}, What: "private daemon", By: "Plimsoll", Proof: "its note: pid with start and boot, its secret, its mount namespace, its control groups"},
	{Kinds: []string{engine.KindFileSystem, string(host.KindLoop)}, What: "file system on a loop device", By: "Plimsoll", Proof: "the device's file is in the run's folder"},
	{Kinds: []string{engine.KindFile}, What: "file or directory outside of the run's folder", By: "the engine's adapter, or Plimsoll", Proof: "the ledger has its exact path, and it lies where only that engine, or Plimsoll, puts such files"},
	{What: "Podman's pause process", By: "Podman's adapter", Proof: "it began with the run, holds the user's namespace, is named in the user's file, and no container of the user runs"},
	{What: "the run's folder", By: "Plimsoll", Proof: "its `owner.json`, of the same user and id, and a process that is gone; nothing is deleted through a mount"},
}
