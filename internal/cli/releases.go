//go:build linux

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/measure/build"
	"plimsoll/internal/understand/analyze/releases"
	"plimsoll/internal/understand/plot"
	"plimsoll/internal/understand/report"
)

// releasesFlags are how many builds of one program are measured, or a run of them told
// of.
type releasesFlags struct {
	printing
	measuredBuilds
	file      string
	from      string // the first release to build
	buildOnly bool   // measure nothing
	threshold string
	picture   pictureFlags
}

// releasesBudget is how long releases are measured where nothing else is said.
const releasesBudget = 5 * time.Minute

func releasesCommand(w World) *cobra.Command {
	f := releasesFlags{printing: printing{format: "text"}, measuredBuilds: measuredBuilds{workload: lifeCycle, budget: releasesBudget}}
	c := &cobra.Command{
		Use:   "releases PROGRAM (--from VERSION | VERSION… | NAME=FILE…) [FACTOR=LEVEL…] | DIR",
		Short: "Show start-up, memory and size of a program over its releases",
		Long: `Measures many builds of a program in turn in the same blocks, and shows how start-up
time, memory and the size of the program developed, in the order in which you name them,
and at which releases they changed. PROGRAM is what they are builds of, such as runc;
NAME is what you call a build, such as 1.8, and FILE its path, with a slash: ./crun. You
can list them in a file instead (--builds). Builds of other programs with the same
names are measured with it: each release is then a set, such as containerd and its shim.

Some programs' releases are built here: all from a VERSION on (--from says of which
programs), and each VERSION that you name. That needs Go and the program's libraries.
What was built is kept in your cache directory, and is built once. --build-only builds
them and prints each as --build takes it.

A step is marked where a new level begins: the chance that any mark is false is 5 %. A
step smaller than --threshold is not marked.

FACTOR=LEVEL is a level of a factor of the engine, or a parameter of the workload. Given
the DIR of such a run it measures nothing, and prints or draws the answer again.`,
		Example: `  plimsoll releases crun 1.8=/opt/crun-1.8/crun 1.9=/opt/crun-1.9/crun 1.14=/usr/bin/crun
  plimsoll releases runc --from 1.1.0 --budget 20m
  plimsoll releases runc 1.1.15 1.2.9 1.3.6
  plimsoll releases containerd 2.4.2 --build-only
  plimsoll releases runc --builds builds.yaml --budget 10m
  plimsoll releases crun --builds builds.yaml --engine podman network=none
  plimsoll releases crun --builds builds.yaml client=steps --metric create,startup --format svg -o crun.svg
  plimsoll releases plimsoll-run-20260102-030405-releases-crun --format markdown`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || args[0] == "" {
				return errors.New("expected a program and its builds: plimsoll releases PROGRAM NAME=FILE NAME=FILE")
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return buildable(w), cobra.ShellCompDirectiveDefault // or a directory
			}
			all, directive := completeBuildLevels(w, f.engine, args[0], typed)
			return all, directive &^ cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			if !isPicture(f.format) {
				if err := misplaced(c, f.format); err != nil {
					return err
				}
			} else if err := noTerminal(w, f.format, f.output); err != nil {
				return err
			}
			if c.Flags().Changed("budget") && c.Flags().Changed("blocks") {
				return fail(Usage, "--budget and --blocks are both given: one of them ends the run")
			}
			if f.buildOnly {
				return f.onlyBuild(c.Context(), w, args)
			}
			if f.file == "" && f.from == "" && len(args) == 1 && !knownProgram(w, args[0]) {
				return f.again(w, args[0], c.Flags())
			}
			return f.measure(c.Context(), w, args)
		},
	}
	f.add(c, append(report.Releases.Formats(), plot.Formats()...)...)
	f.picture.addSize(c)
	fl := c.Flags()
	fl.StringVar(&f.file, "builds", "", "a YAML file that says which files the builds are, in the order of the releases")
	completesPaths(c, yamlEndings, "builds")
	fl.StringVar(&f.from, "from", "", "build and measure all releases from this version on, without release candidates, of "+strings.Join(build.InModules(), ", "))
	fl.BoolVar(&f.buildOnly, "build-only", false, "build these releases, print each program as PROGRAM:VERSION=FILE, and measure nothing")
	fl.StringVar(&f.threshold, "threshold", fmt.Sprintf("%g%%", 100*releases.Threshold), "the smallest step to mark")
	f.addMeasured(c, w, "show these metrics besides memory and size", "the time that measuring takes")
	return c
}

// measure looks at the builds, and measures them.
func (f *releasesFlags) measure(ctx context.Context, w World, args []string) error {
	if _, err := percentage("threshold", f.threshold); err != nil {
		return err
	}
	if err := takesRecord(f.dir); err != nil {
		return err
	}
	s, err := newSetting(w)
	if err != nil {
		return err
	}
	builds, rest, err := f.builds(ctx, s, args)
	if err != nil {
		return err
	}
	text, err := f.study(s.engines, args[0], builds, rest)
	if err != nil {
		return err
	}
	if err := canTune(f.tuned); err != nil {
		return err
	}
	return smallStudy{
		by: "releases", of: args[0], text: text, dir: f.dir, turn: f.turn, builds: builds,
		keeps: func(string) bool { return false }, lacks: lacksOne,
		command: func(seed uint64) string { return f.command(builds, rest, seed) },
	}.run(w, f.measured)
}
