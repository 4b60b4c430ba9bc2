package baseline

import (
	"context"
	"slices"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/clirun"
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

// RunRanks is documented in engine.Parallel. All ranks have the same root, each
// entered by the program chroot(8), since the launcher starts programs and can't
// be told of a root.
func (n *native) RunRanks(ctx context.Context, ranks engine.Ranks, task engine.Task) (engine.Result, error) {
	if n.chroot == "" {
		return adapter.Refused(&engine.Error{Class: record.Unavailable, Text: "there is no program chroot on PATH, by which ranks would enter the root directory"}), nil
	}
	if ranks.Nodes > 1 {
		return adapter.Refused(adapter.Unsupported("native's root is mounted on this machine alone, and ranks on other nodes would not find it")), nil
	}
	// The launcher's files, which ranks look for at the same path.
	mounts := append(slices.Clone(task.Mounts), engine.Mount{Kind: engine.Bind, Source: "/tmp", Target: "/tmp"})
	root, err := n.roots.take(mounts)
	if err != nil {
		return adapter.Refused(err), nil
	}
	cmd := adapter.As(commandIn(task), nil, n.Kit)
	cmd.Argv = append([]string{n.chroot, root.path}, cmd.Argv...)
	p := clirun.Launched(ranks, task, cmd)
	p.OOM = n.Group.OOMWatch()
	res, err := n.Base.Run(ctx, p)
	if uerr := n.roots.give(root); err == nil {
		unclean(&res, uerr)
	}
	return res, err
}
