//go:build linux

package cli

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/measure/build"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/report"
)

// abFlags are how two builds of a program are held against each other.
type abFlags struct {
	printing
	gateFlags
	measuredBuilds
}

// abBudget is how long two builds are measured where nothing else is said.
const abBudget = 2 * time.Minute

func abCommand(w World) *cobra.Command {
	f := abFlags{printing: printing{format: "text"}, measuredBuilds: measuredBuilds{workload: lifeCycle, budget: abBudget}}
	c := &cobra.Command{
		Use:   "ab PROGRAM OLD NEW [NAME=LEVEL…] | DIR",
		Short: "Say which of two builds of an engine or a runtime is faster",
		Long: `Measures two builds of a program, the files OLD and NEW, in turn in the same blocks,
and says in one line which is faster and by how much, or that it cannot tell and what
it could have found. PROGRAM is what they are builds of, such as runc or apptainer.

It ends when the difference is known to ± 1 %, or when the time of --budget is up. With
--fail-above it is a gate that looks up to three times, and ends when it is clear whether
NEW is worse by more than that (status 3) or is not. What is compared is the start of a
container, or the first metric of the --workload. A runtime is run by itself, or as its
users run it: below the --engine that calls it.

OLD and NEW may be directories that hold a set of programs by their names: dockerd with
the containerd, shim and runtime that belong to it.

OLD or NEW may also be a configuration of the program on your PATH: a file such as
dockerd's daemon.json, or a variable of its environment as KEY=VALUE. For dockerd,
containerd and crio it may be a daemon that is already running, as unix://SOCKET; for
dockerd also the one of a Docker context, as context:NAME. With crio, and with containerd
and --engine cri, pods are measured there.

NAME=LEVEL is a level of a factor of the engine, or a parameter of the workload. If a
build can't be used, the command ends before anything is measured. Given the DIR of such
a run it measures nothing and prints the answer again, in another format if you like.`,
		Example: `  plimsoll ab runc /usr/bin/runc ./runc
  plimsoll ab crun ./old/crun ./new/crun --fail-above 5% --budget 60s
  plimsoll ab crun ./old/crun ./new/crun client=steps --metric create,startup --tuned
  plimsoll ab runc ./old/runc ./new/runc --engine docker network=none
  plimsoll ab crun ./old/crun ./new/crun --engine cri endpoint=containerd
  plimsoll ab runc ./old/runc ./new/runc --workload density count=20
  plimsoll ab containerd /usr/bin/containerd ./bin/containerd network=none
  plimsoll ab dockerd ./old/ ./new/ network=none
  plimsoll ab dockerd ./daemon.json ./without-proxy.json
  plimsoll ab dockerd unix:///var/run/docker.sock unix:///run/other/docker.sock
  plimsoll ab dockerd context:default context:other
  plimsoll ab containerd unix:///run/containerd/containerd.sock unix:///run/other/c.sock --engine cri
  plimsoll ab containerd GOGC=100 GOGC=off network=none
  plimsoll ab podman containers.conf=./a.conf containers.conf=./b.conf
  plimsoll ab podman /usr/bin/podman ./bin/podman client=steps
  plimsoll ab apptainer /opt/1.2/bin/apptainer /opt/1.3/bin/apptainer --format json
  plimsoll ab plimsoll-run-20260102-030405-ab-crun --format junit -o junit.xml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] != "" {
				return nil
			}
			if len(args) < 3 || args[0] == "" || args[1] == "" || args[2] == "" {
				return errors.New("expected a program and the files of two builds of it: plimsoll ab PROGRAM OLD NEW")
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			switch len(args) {
			case 0:
				return buildable(w), cobra.ShellCompDirectiveDefault // or a directory
			case 1, 2:
				return nil, cobra.ShellCompDirectiveDefault
			}
			return completeBuildLevels(w, f.engine, args[0], typed)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				return f.again(w, args[0], c.Flags())
			}
			if c.Flags().Changed("budget") && c.Flags().Changed("blocks") {
				return fail(Usage, "--budget and --blocks are both given: one of them ends the run")
			}
			return f.compare(c.Context(), w, args)
		},
	}
	f.printing.add(c, report.Pairs.Formats()...)
	f.addMeasured(c, w, "compare these metrics; the verdict is on the first", "the time that it may take")
	fl := c.Flags()
	fl.StringVar(&f.failAbove, "fail-above", "", "fail if NEW is worse by more than this, such as 5%")
	fl.BoolVar(&f.strict, "strict", false, "with --fail-above: exit with status 4 if it cannot tell")
	fl.StringVar(&f.failures, "allow-failures", "", "with --fail-above: let up to this share more of the trials fail than in OLD (default 5%)")
	return c
}

// completesEngines lets a shell complete --engine with the engines that run builds of
// the program that stands on the line.
func completesEngines(c *cobra.Command, w World) {
	completes(c, "engine", func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		return running(w, args), cobra.ShellCompDirectiveNoFileComp
	})
}

// running are the engines that can run a build of the first argument, or of any
// program where none is given yet.
func running(w World, args []string) []string {
	return enginesThat(w, func(i engine.Info) bool {
		return len(args) == 0 && len(i.Programs) > 0 || len(args) > 0 && i.Runs(args[0]) != nil
	})
}

// buildable are the programs of which an engine takes a build.
func buildable(w World) (names []string) {
	s, err := newSetting(w)
	if err != nil {
		return nil
	}
	for _, p := range engine.AllPrograms(s.engines) {
		names = append(names, p.Name)
	}
	return names
}

// compare looks at both builds, and measures them.
func (f *abFlags) compare(ctx context.Context, w World, args []string) error {
	if _, err := f.thresholds(); err != nil {
		return err
	}
	if err := takesRecord(f.dir); err != nil {
		return err
	}
	s, err := newSetting(w)
	if err != nil {
		return err
	}
	builds, sets, err := f.twoBuilds(ctx, w, s, args)
	if err != nil {
		return err
	}
	whole := args
	if sets != nil && sets.level != "" {
		whole = append(slices.Clone(args), sets.level)
	}
	text, err := f.study(s.engines, whole)
	if err != nil {
		return err
	}
	if err := canTune(f.tuned); err != nil {
		return err
	}
	x := abRun{abFlags: f, program: args[0]}
	return smallStudy{
		by: "ab", of: args[0], text: text, dir: f.dir, turn: f.turn, builds: builds,
		keeps: func(string) bool { return false }, lacks: lacksOne,
		command: func(seed uint64) string { return f.command(args[0], boundAgain(builds, sets), args[3:], seed) },
	}.run(w, x.measured)
}

// twoBuilds looks at the files of both, whose levels are called old and new. They are one
// program each, or those of two directories.
func (f *abFlags) twoBuilds(ctx context.Context, w World, s *setting, args []string) ([]record.Build, *abDirectories, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, nil, fail(Failed, "finding the working directory: %w", err)
	}
	if err := noEngine(s.engines, args[0]); err != nil {
		return nil, nil, err
	}
	var asked []build.Asked
	for i, level := range abLevels {
		a, err := build.Parse(args[0]+":"+level+"="+args[1+i], "the build", dir)
		if err != nil {
			return nil, nil, fail(Usage, "%w", err)
		}
		asked = append(asked, a)
	}
	sets, err := directoriesOf(w.Stderr, s.engines, asked, f.engine, args[3:])
	if err != nil {
		return nil, nil, err
	}
	if sets != nil {
		asked = sets.all
	}
	builds, err := s.bind(ctx, asked)
	if err != nil {
		return nil, nil, fail(Usage, "%w", err)
	}
	if sets != nil {
		for _, a := range sets.asked {
			if err := build.Demanded(a, builds); err != nil {
				return nil, nil, fail(Usage, "%w", err)
			}
		}
	}
	return builds, sets, nil
}
