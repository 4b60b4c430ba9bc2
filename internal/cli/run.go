//go:build linux

package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/measure/host"
	"plimsoll/internal/measure/likeness"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/analyze/gate"
	"plimsoll/internal/understand/report"
	"plimsoll/internal/understand/view"
)

// runAsked is what the command line asks of a run.
type runAsked struct {
	reportFlags
	turn
	changes  changes
	gate     runGateFlags
	job      onFlags
	hosts    hostsFlags
	dir      string
	resume   string
	after    time.Duration
	noise    string
	trust    bool
	yes      bool
	where    placing
	agents   agentFlags
	portable portableFlags
}

func runCommand(w World) *cobra.Command {
	return (&runAsked{reportFlags: reportFlags{format: "text"}}).command(w)
}

func (a *runAsked) command(w World) *cobra.Command {
	c := &cobra.Command{
		Use:   "run [STUDY | -- COMMAND…]",
		Short: "Measure, and print the table",
		Long: `Measures the environments of a study (by default the bundled study "quick"),
prints the table, and writes the report as a page, report.html in the record. A
study is the name of a bundled one (plimsoll studies) or the path of a file. Instead
of a study you can give a command after --: it measures its time, CPU time and memory,
in native and in the engines that --engine names. The command runs in the image of
--image; without it, in busybox or toolbox, the first that has the program.

--until 2% spends trials where they are needed: after 10, 20, 40 … blocks it drops
the environments whose ratios are known to ± 2 %, and it ends when all are. With
--until claims further blocks go to the study's claims that are not decided, as in
the papers' quick scales; --claim measures only what some claims need.
--time-budget ends the run in time. --gate BASE ends it as soon as it is clear
whether something got worse than in an earlier run (status 3) or did not.

The first SIGINT ends the run after the trial in flight, the second ends it at
once; both clean up, and you can --resume later. Losing the terminal or session
(SIGHUP) and a closed pipe act like the first; under nohup a run goes on.

--on slurm submits the run as a job, from a login node of a cluster and without
root, and follows it: Ctrl-C cancels the job; after a lost session --resume
follows it again, and submits what a time limit or a lost node has left undone.

--on ssh://HOST,… runs the study on other hosts by the system's own ssh, with the
same seed's plan on each: the program is copied there, the records are fetched
into OUTPUT/HOST, and everything is removed there afterwards. If a connection is
lost, the run goes on and is picked up again. Ctrl-C ends all of them cleanly.
--on file:HOSTS.yaml#GROUP names the hosts in a file.

--portable measures Docker and Podman only by their API and their command, wherever
they run: a daemon behind TCP with TLS, ssh or a Docker context, Docker Desktop, a
Podman machine. It is what Plimsoll does on macOS and Windows. --resume continues such
a run in the same way.`,
		Example: `  plimsoll run
  plimsoll run quick --engine docker,podman --blocks 30
  plimsoll run --engine docker,podman -- sha256sum /bin/busybox
  plimsoll run --engine docker,podman --image debian -- sh -c 'seq 1000000 | sort -R | tail -1'
  plimsoll run baresi2024 --scale quick
  plimsoll run baresi2024 --scale quick --part why-seccomp
  plimsoll run baresi2024 --scale quick --claim 9d,9f
  plimsoll run ./my.yaml -o results
  plimsoll run quick --until 2% --time-budget 10m
  plimsoll run study.yaml --gate baseline --fail-above 5%
  plimsoll run study.yaml --gate-env crun --gate-env runc --fail-above 5%
  plimsoll run baresi2024 --scale full --stop-after 2h -o results
  plimsoll run --resume results
  plimsoll run study.yaml --on slurm --partition short --time-limit 2h -o ~/results
  plimsoll run quick --on ssh://root@node1,root@node2:2222 -o results
  plimsoll run study.yaml --on ssh://lab@board --become --program arm64=dist/plimsoll-linux-arm64
  plimsoll run study.yaml --on file:hosts.yaml#arm --stop-after 2h
  plimsoll run quick --portable --engine docker --blocks 20
  plimsoll run abraham2020 --agent local --agent https://oss1:7655#FINGERPRINT --agent-token-file token`,
		Args:              studyOrCommand,
		ValidArgsFunction: completeStudies,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.run(w, cmd, args) },
	}
	a.changes.add(c)
	a.where.add(c)
	a.reportFlags.add(c, runFormats()...)
	a.job.add(c)
	a.hosts.add(c)
	c.Flags().StringVar(&a.gate.base, "gate", "", "compare the run with the one in this directory after 10, 20 and 40 blocks, and end when --fail-above or --thresholds is decided")
	c.Flags().StringArrayVar(&a.gate.envs, "gate-env", nil, "compare two environments of the run: give it twice, BASE first")
	c.Flags().DurationVar(&a.gate.budget, "budget", 0, "with --gate or --gate-env: the time that it may take, such as 60s; the number of blocks and of looks is chosen by what fits, and said after the first blocks, with what the gate will find")
	completesFolders(c, "gate")
	a.gate.add(c)
	a.agents.add(c.Flags())
	a.portable.add(c)
	c.Flags().Lookup("unlike").Usage += "; with --resume: continue on another machine, kernel or engine version, or with other images, than the run began with"
	c.Flags().StringVarP(&a.dir, "output", "o", "", "directory of the record (default plimsoll-run-TIME-STUDY)")
	c.Flags().StringVar(&a.resume, "resume", "", "resume the run in this directory")
	c.Flags().DurationVar(&a.after, "stop-after", 0, "interrupt the run after this time, such as 2h, when the trial in flight has ended; --resume continues it, on another day too")
	c.Flags().BoolVar(&a.trust, "trust-record", false, "resume a record that belongs to another user: what it says is executed")
	c.Flags().StringVar(&a.noise, "noise", "", "record the noise floor in this file, from plimsoll selftest --format json: no gate on this run may be set below it")
	c.Flags().BoolVar(&a.yes, "yes", false, "build missing images that the study needs, without asking; without it you are asked in a terminal, and elsewhere told what is left out")
	a.addTurn(c)
	completes(c, "gate-env", ofStudy(plannedOf))
	completesFolders(c, "output", "resume")
	completesPaths(c, []string{"json"}, "noise")
	completesPaths(c, nil, "agent-token-file")
	return c
}

// runFormats are those of a result and those of a gate's answer.
func runFormats() []string {
	return analyze.Also(report.Formats(), report.Changes.Formats()...)
}

// fits refuses a format that a gate's answer, or a result without one, has not.
// Whether a resumed run is gated is seen later.
func fits(format string, gated, resumed bool) error {
	formats, what := report.Formats(), "a result"
	if gated {
		formats, what = report.Changes.Formats(), "a gate's answer"
	}
	if resumed || slices.Contains(formats, format) {
		return nil
	}
	return fail(Usage, "--format %s is not for %s: it can be %s", format, what, strings.Join(formats, ", "))
}

// runError gives an error of a run its status; begun says that there is a record
// of it.
func runError(err error, dir string, begun bool) error {
	if errors.Is(err, run.ErrNothing) {
		return withHint(fail(NothingHere, "%w", err), "plimsoll engines says what is missing and what would help")
	}
	if _, ok := errors.AsType[*exitError](err); ok {
		return err // of our own judge
	}
	if _, ok := errors.AsType[*host.BusyError](err); ok {
		return fail(Failed, "%w", err) // what there is of a record was there before
	}
	if _, ok := errors.AsType[*likeness.Error](err); ok {
		return withHint(fail(Usage, "%w", err), unlikeHint)
	}
	if refused, ok := errors.AsType[*gate.RefusedError](err); ok {
		return withHint(fail(Usage, "%w", err), "%s", refused.Advice)
	}
	if !begun || !holdsRun(dir) {
		return fail(Failed, "%w", err) // there is nothing to go on with
	}
	return withHint(fail(Failed, "%w", err), "what was measured is kept in %s; plimsoll run --resume continues", shortPath(dir))
}

// tellLeft names what could not be removed, if anything, and what removes it.
func tellLeft(w World, sum *run.Summary) {
	if !sum.Left() {
		return
	}
	for _, r := range sum.Residue {
		fmt.Fprintf(w.Stderr, "left behind: %s\n", harmless.Text(r))
	}
	if sum.Unclean != nil {
		for l := range strings.SplitSeq(sum.Unclean.Error(), "\n") {
			fmt.Fprintf(w.Stderr, "cleaning up: %s\n", harmless.Text(l))
		}
	}
	fmt.Fprintln(w.Stderr, "plimsoll clean removes what a run left behind")
}

// finishRun prints the table, or a gate's answer, and says where the record lies.
func finishRun(w World, sum *run.Summary, f reportFlags, g *gating) error {
	tellLeft(w, sum)
	path := shortPath(sum.Dir)
	if sum.Interrupted && sum.Trials == 0 {
		return withHint(fail(Interrupted, "interrupted before the first trial"), "continue with: plimsoll run --resume %s", path)
	}
	// Of a million trials the analysis takes seconds: one is for all that follows.
	res, err := readWith(sum.Dir, evaluate.Options{Levels: view.Levels})
	if err != nil {
		return withHint(err, "the record is in %s", path)
	}
	if err := recordTwins(sum.Dir, res, sum.Trusted...); err != nil {
		return fail(Failed, "recording the noise floor: %w", err)
	}
	var answer *compare.Changes
	ab := abOf(sum.Dir, f, g)
	if ab != nil && !sum.Interrupted {
		err = ab.tell(w, res)
		fmt.Fprintf(w.Stderr, "The record is in %s; plimsoll report %s prints all else.\n", path, path)
	} else if again := releasesOf(sum.Dir, f); again != nil && !sum.Interrupted {
		err = again(w, res)
		fmt.Fprintf(w.Stderr, "The record is in %s; plimsoll releases %s prints this again.\n", path, path)
	} else if g != nil && !sum.Interrupted {
		if answer, err = g.judge(res, false); err == nil {
			err = tell(w, &printing{format: f.format, style: f.style}, report.Changes, answer)
			summariseChanges(w, answer)
		}
		fmt.Fprintf(w.Stderr, "The record is in %s; plimsoll report %s prints its table.\n", path, path)
	} else if slices.Contains(report.Formats(), f.format) {
		err = f.write(w, []string{path}, []*analyze.Result{res})
		fmt.Fprintf(w.Stderr, "The record is in %s; plimsoll report %s prints this again.\n", path, path)
	}
	runPage(w, sum.Dir, res, sum.Trusted...)
	if err != nil && !(sum.Interrupted && isLost(err)) {
		return err
	}
	switch {
	case sum.Interrupted:
		return withHint(fail(Interrupted, "interrupted"), "continue with: plimsoll run --resume %s", path)
	case sum.Left():
		return fail(Failed, notAllRemoved)
	case answer != nil:
		return gateStatus(answer.Gate, g.strict) // what failed is part of its answer
	case sum.Without() != "":
		return fail(SomeFailed, "%s: the report says which and why", sum.Without())
	}
	return nil
}
