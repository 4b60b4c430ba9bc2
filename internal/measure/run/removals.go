package run

import (
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host"
)

// Removal is what is removed by which proof.
type Removal struct {
	Kinds []string // of the ledger's or the census'; none for what is in neither
	What  string
	By    string
	Proof string
	Else  string // what happens where it can't be proved
}

// Removals are all kinds of things that a run, the next one or a clean-up removes.
// docs/clean-up.md has them as a table.
var Removals = []Removal{
	{Kinds: []string{engine.KindContainer}, What: "container, pod, instance", By: "the engine",
		Proof: "the ledger has its name, at the place where it was made, and it carries the run's label. Without labels (OCI runtimes, LXC, Apptainer, systemd-nspawn): its state or its root directory is in the run's folder, or no control group or directory of its name existed before it was entered",
		Else:  "it stays, as somebody else's"},
	{Kinds: []string{engine.KindImage}, What: "image's tag", By: "the engine",
		Proof: "the ledger has the whole tag, which ends in the run's id; never by force",
		Else:  "kept, where somebody's container uses it"},
	{Kinds: []string{engine.KindVolume}, What: "volume", By: "the engine, with its container", Proof: "the run's label", Else: "it stays"},
	{Kinds: []string{engine.KindNamespace}, What: "containerd's namespace, with what is in it", By: "containerd",
		Proof: "the ledger has its name, and it carries the run's label", Else: "it stays"},
	{Kinds: []string{engine.KindProject, engine.KindProfile, engine.KindPool}, What: "project, profile, storage pool of LXD or Incus", By: "the daemon",
		Proof: "the ledger has its name, and it carries the run's label", Else: "kept, also where somebody has put something into it"},
	{Kinds: []string{engine.KindMount, string(host.KindMount)}, What: "mount", By: "Plimsoll",
		Proof: "the mount point is in the run's folder, is in the ledger, or lies in the directory that containerd has for the run's namespace", Else: "it stays"},
	{Kinds: []string{engine.KindCgroup, string(host.KindCgroup)}, What: "control group", By: "Plimsoll",
		Proof: "its path is in the ledger, or is exactly the one that the engine gives a container of the ledger's, or lies below such a path", Else: "it stays"},
	{Kinds: []string{engine.KindNetNS, string(host.KindNetNS)}, What: "network namespace's file", By: "Podman's adapter",
		Proof: "a container's bundle in the run's store names it", Else: "it stays: see below"},
	{Kinds: []string{engine.KindLink, string(host.KindLink)}, What: "network link", By: "Plimsoll", Proof: "the ledger has its exact name, which was free", Else: "it stays"},
	{Kinds: []string{engine.KindRule}, What: "rule of the packet filter", By: "Plimsoll", Proof: "the ledger has the bridge or the network that it is for, and the rule has the run's comment or table", Else: "it stays"},
	{Kinds: []string{engine.KindSetting}, What: "kernel setting", By: "Plimsoll", Proof: "the ledger has its former value, of this boot and network namespace", Else: "left on, with the command"},
	{Kinds: []string{engine.KindOwner}, What: "the owner of /dev/null", By: "Plimsoll", Proof: "the ledger has root as its former owner, of this boot, device and inode", Else: "it stays"},
	{Kinds: []string{engine.KindProcess, string(host.KindProcess)}, What: "process", By: "Plimsoll",
		Proof: "its program or its root directory is in the run's folder; or it is in a control group of the run's; or it has inherited the run's secret and its program is one that engines put next to containers; or it descends from such a process. A shim of containerd's works in the directory that containerd has for the run's namespace. A signal goes to a pidfd, after the start time was compared",
		Else:  "left alone, with the `kill` that ends it"},
	{Kinds: []string{engine.KindDaemon}, What: "private daemon", By: "Plimsoll", Proof: "its note: pid with start and boot, its secret, its mount namespace, its control groups", Else: "kept"},
	{Kinds: []string{engine.KindFileSystem, string(host.KindLoop)}, What: "file system on a loop device", By: "Plimsoll", Proof: "the device's file is in the run's folder", Else: "it stays"},
	{Kinds: []string{engine.KindFile}, What: "file or directory outside of the run's folder", By: "the engine's adapter, or Plimsoll", Proof: "the ledger has its exact path, and it lies where only that engine, or Plimsoll, puts such files", Else: "kept"},
	{What: "Podman's pause process", By: "Podman's adapter", Proof: "it began with the run, holds a user namespace of the user's, is the one that the user's file names, and no container of the user's runs", Else: "it stays"},
	{What: "the run's folder", By: "Plimsoll", Proof: "its `owner.json`, of the same user and id, and a process that is gone; nothing is deleted through a mount", Else: "it stays"},
}
