package baseline

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// native is the environment of Native: the others make containers that no
// launcher could start.
type native struct {
	*environment
	roots *roots
	// chroot is the program that enters a root directory.
	chroot string
}

// RunRanks gives all ranks the same root. Each enters it by chroot(8), since the
// launcher can only start programs.
func (n *native) RunRanks(ctx context.Context, ranks engine.Ranks, task engine.Task) (engine.Result, error) {
	if n.chroot == "" {
		return adapter.Refused(&engine.Error{Class: record.Unavailable, Text: "there is no program chroot on PATH, by which ranks would enter the root directory"}), nil
	}
	if ranks.Nodes > 1 || filepath.Base(ranks.Launcher[0]) == "srun" { // whose ranks are slurmd's children
		return n.runOnNodes(ctx, ranks, task)
	}
	// The launcher's files, which ranks look for at the same path.
	mounts := append(slices.Clone(task.Mounts), engine.Mount{Kind: engine.Bind, Source: "/tmp", Target: "/tmp"})
	root, err := n.roots.take(mounts)
	if err != nil {
		return adapter.Refused(err), nil
	}
	cmd := adapter.As(commandIn(task), nil, n.Kit)
	cmd.Argv = append([]string{n.chroot, root.path}, cmd.Argv...)
	res, err := n.launched(ctx, ranks, task, cmd)
	if uerr := n.roots.give(root); err == nil {
		unclean(&res, uerr)
	}
	return res, err
}

func (n *native) launched(ctx context.Context, ranks engine.Ranks, task engine.Task, cmd probe.Command) (engine.Result, error) {
	if len(ranks.Inside) > 0 {
		env, err := n.Kit.LookPath("env")
		if err != nil {
			return adapter.Refused(&engine.Error{Class: record.Unavailable, Text: "there is no program env on PATH, by which ranks would get variables that their launcher has not", Fix: "apt-get install coreutils"}), nil
		}
		cmd.Argv = slices.Concat([]string{env}, ranks.Inside, cmd.Argv)
	}
	return n.Base.Run(ctx, clirun.Launched(ranks, task, cmd))
}

// rootOnNode makes, in a mount namespace of the rank's own, the root that newRoot
// makes on this machine, and enters it. What it has mounted is gone with the rank.
// Ranks of one node meet in the node's /dev/shm. Its arguments: the image's
// directory, how many pairs of directories follow, the pairs, the command.
const rootOnNode = `set -e
root=$1 pairs=$2
shift 2
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
cd "$root"
[ ! -d proc ] || mount -t proc -o nosuid,nodev,noexec proc proc
[ ! -d sys ] || { mount --bind /sys sys && mount -o remount,bind,ro sys; }
[ ! -d dev ] || mount --rbind /dev dev
while [ "$pairs" -gt 0 ]; do
	mount --bind "$1" "$root$2"
	shift 2
	pairs=$((pairs - 1))
done
exec chroot "$root" "$@"
`

// runOnNodes gives each rank its root on the node where it is: native's own mounts are
// seen only by what its launcher has started.
func (n *native) runOnNodes(ctx context.Context, ranks engine.Ranks, task engine.Task) (engine.Result, error) {
	unshare, err := n.Kit.LookPath("unshare")
	if err != nil {
		return adapter.Refused(&engine.Error{Class: record.Unavailable, Text: "there is no program unshare on PATH, by which ranks would get their root on other nodes", Fix: "apt-get install util-linux"}), nil
	}
	argv := []string{unshare, "--mount", "--propagation", "private", "/bin/sh", "-c", rootOnNode, "plimsoll-root", n.roots.image}
	mounts := append(slices.Clone(task.Mounts), engine.Mount{Kind: engine.Bind, Source: "/tmp", Target: "/tmp"})
	argv = append(argv, strconv.Itoa(len(mounts)))
	for _, m := range mounts {
		if m.Kind != engine.Bind {
			return adapter.Refused(adapter.Unsupported("on several nodes native binds directories and mounts nothing else")), nil
		}
		argv = append(argv, m.Source, m.Target)
	}
	cmd := adapter.As(commandIn(task), nil, n.Kit)
	cmd.Argv = append(argv, cmd.Argv...)
	return n.launched(ctx, ranks, task, cmd)
}
