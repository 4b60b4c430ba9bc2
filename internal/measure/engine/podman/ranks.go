package podman

import (
	"context"
	"os"
	"slices"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// rankOptions are what podman needs to be a launcher's child as the engines of
// high-performance computing are: the host's network, memory segments and process
// numbers, by which ranks and their launcher meet, and no label between them and
// the launcher's files. podman-hpc gives the same.
var rankOptions = []string{"--network=host", "--pid=host", "--security-opt=label=disable"}

// rankVariables are the launchers' and the libraries', which podman takes from its
// own environment: each rank has others.
var rankVariables = []string{"--env=OMPI_*", "--env=PMIX_*", "--env=PMI_*", "--env=PRTE_*", "--env=SLURM_*", "--env=UCX_*", "--env=FI_*"}

// RunRanks starts one container for the ranks of a node before the launcher, which
// then executes in it.
func (env *environment) RunRanks(ctx context.Context, ranks engine.Ranks, task engine.Task) (engine.Result, error) {
	if why := env.noRanks(ranks); why != "" {
		return engine.Result{Failure: &record.Failure{Class: record.Unsupported, Text: why}}, nil
	}
	if f := env.impossible(task); f != nil {
		return engine.Result{Failure: f}, nil
	}
	if f, err := env.mapImage(ctx, task); f != nil || err != nil {
		return engine.Result{Failure: f}, err
	}
	// The launcher's files, at the same path as outside.
	task.Mounts = append(slices.Clone(task.Mounts), engine.Mount{Kind: engine.Bind, Source: "/tmp", Target: "/tmp"})
	if env.p.user != nil {
		ranks = clirun.Apart(ranks) // each has a user namespace
	}
	if ranks.Shared {
		return env.api.Account(ctx, task, func() (engine.Result, error) { return env.runInOne(ctx, ranks, task) })
	}
	return env.runEach(ctx, ranks, task)
}

// noRanks says why this environment can't have ranks.
func (env *environment) noRanks(ranks engine.Ranks) string {
	switch {
	case env.byAPI || env.bySteps:
		return "a launcher starts one command, and this client takes several requests; it works with client: cli"
	case env.settings.network != "" && env.settings.network != "host":
		return "with the network " + env.settings.network + " a rank reaches neither its launcher nor the others; it works with network: host, or none named"
	case env.settings.limits != (engine.Limits{}):
		return "podman limits each container, which is each rank, and not all of them together; it works without limits: protocol: {limits: {cpus: none, memory: none}}"
	case ranks.Nodes > 1:
		return "on other nodes podman's store has not the image"
	}
	return ""
}

// rankOptions are those of a rank's container. Ranks and launcher are to be the
// same user, also for each other. For an ordinary user --ipc=host binds the host's
// /dev/mqueue, which not every host has mounted; messages need /dev/shm alone.
func (env *environment) rankOptions() []string {
	options, ipc := slices.Clone(rankOptions), "--ipc=host"
	if env.p.user != nil {
		options = append(options, "--userns=keep-id")
		if _, err := os.Stat("/dev/mqueue"); err != nil {
			ipc = "--mount=type=bind,source=/dev/shm,destination=/dev/shm"
		}
	}
	return append(options, ipc)
}

// rankSettings are the environment's, with the network among the options.
func (env *environment) rankSettings() settings {
	s := env.settings
	s.network = ""
	return s
}

// mapImage makes, once, the copy of the image's layers whose files belong to an
// ordinary user's mapping of himself. It is no part of a start.
func (env *environment) mapImage(ctx context.Context, task engine.Task) (*record.Failure, error) {
	if env.p.user == nil || env.mapped {
		return nil, nil
	}
	t := engine.Task{Name: task.Name + "-map", Argv: task.Argv, Checked: task.Checked}
	res, err := env.api.Account(ctx, t, func() (res engine.Result, err error) {
		if _, cerr := env.p.output(ctx, env.rankSettings().args("create", t, env.rankOptions()...)...); cerr != nil {
			res.Failure = env.Failure("mapping the image's files to the user", cerr)
		}
		env.api.Clear(context.WithoutCancel(ctx), t, &res)
		return res, nil
	})
	env.mapped = err == nil && res.Failure == nil
	return res.Failure, err
}

// runEach starts a container for each rank.
func (env *environment) runEach(ctx context.Context, ranks engine.Ranks, task engine.Task) (engine.Result, error) {
	var tasks []engine.Task
	for i := range ranks.PerNode * ranks.Nodes {
		t := task
		t.Name, t.Checked = clirun.RankName(task.Name, i), task.Checked || i > 0
		if f, err := env.api.Admit(ctx, t); f != nil || err != nil {
			return engine.Result{Failure: f}, env.strike(tasks, err)
		}
		tasks = append(tasks, t)
	}
	each := task
	each.Name = clirun.EachName(task.Name)
	options := slices.Concat([]string{"--rm"}, env.rankOptions(), rankVariables)
	for _, v := range ranks.Inside {
		options = append(options, "--env="+v)
	}
	cmd := env.p.command(env.rankSettings().args("run", each, options...)...)
	plan := clirun.Launched(ranks, task, clirun.AsRank(cmd))
	plan.Patterns = patterns
	res, err := env.Base.Run(ctx, plan)
	after := context.WithoutCancel(ctx)
	for _, t := range tasks {
		if err != nil || res.Failure != nil {
			env.api.Clear(after, t, &res)
			continue
		}
		env.api.After(after, t, &res)
	}
	return res, env.strike(tasks, err)
}

// strike tells the ledger that the ranks' containers are gone, but for those that
// are still to be removed.
func (env *environment) strike(tasks []engine.Task, err error) error {
	for _, t := range tasks {
		if serr := env.api.Strike(t.Name); err == nil {
			err = serr
		}
	}
	return err
}

// runInOne starts the ranks in one container.
func (env *environment) runInOne(ctx context.Context, ranks engine.Ranks, task engine.Task) (engine.Result, error) {
	holder := task
	holder.Argv = probe.PayloadArgs{Word: "holder", Stay: true}.Argv(image.ProbePath)
	exec := append([]string{"exec"}, rankVariables...)
	for _, v := range append(slices.Clone(task.Env), ranks.Inside...) {
		exec = append(exec, "--env="+v)
	}
	plan := clirun.Launched(ranks, task, env.p.command(append(append(exec, task.Name), task.Argv...)...))
	launch := plan.Steps[0]
	launch.Begin, launch.End = record.Start, ""
	remove := clirun.Step{Cmd: env.p.command("rm", "--force", "--time=0", "--volumes", task.Name), End: record.Removed}
	remove.Cmd.Always, remove.MayFail = true, true // its monitor may be the first to remove it
	plan.Steps = []clirun.Step{
		{Cmd: env.p.command(env.rankSettings().args("run", holder, append([]string{"--detach", "--rm"}, env.rankOptions()...)...)...), Begin: record.Request, End: record.Created},
		launch, remove,
	}
	plan.Payload, plan.Patterns = 1, patterns
	res, err := env.Base.Run(ctx, plan)
	switch after := context.WithoutCancel(ctx); {
	case err != nil || res.Failure != nil:
		env.api.Clear(after, task, &res)
		env.api.Later(task.Name) // a command that was killed may have been at work
	default:
		env.api.After(after, task, &res)
	}
	return res, err
}
