//go:build linux

package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/measure/host"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/analyze/gate"
	"plimsoll/internal/understand/report"
	"plimsoll/internal/understand/view"
)

func runCommand(w World) *cobra.Command {
	f := reportFlags{format: "text"}
	var (
		ch       changes
		gate     runGateFlags
		job      onFlags
		dir      string
		resume   string
		after    time.Duration
		noise    string
		progress = "auto"
		force    bool
		wait     bool
		trust    bool
		where    placing
		asked    agentFlags
	)
	c := &cobra.Command{
		Use:   "run [STUDY]",
		Short: "Measure, and print the table",
		Long: `Measures the environments of a study (by default the bundled study "quick"),
prints the table, and writes the report as a page, report.html in the record. A
study is the name of a bundled one (plimsoll studies) or the path of a file.

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
follows it again, and submits what a time limit or a lost node has left undone.`,
		Example: `  plimsoll run
  plimsoll run quick --engine docker,podman --blocks 30
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
  plimsoll run abraham2020 --agent local --agent https://oss1:7655#FINGERPRINT --agent-token-file token`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeStudies,
		RunE: func(cmd *cobra.Command, args []string) error {
			w, finish, broken, stop := w.interrupts()
			defer stop()
			s, err := newSetting(w)
			if err != nil {
				return err
			}
			if slurm, err := job.bySlurm(cmd, where.on, resume); err != nil {
				return err
			} else if slurm {
				return runBySlurm(w, cmd, args, slurmAsked{job: &job, ch: ch, f: f, dir: dir, resume: resume, unlike: gate.unlike, trust: trust, noise: noise, progress: progress}, finish, broken)
			}
			unlike := gate.unlike
			if resume != "" {
				gate.unlike = false // it is not for a gate, which the record has
			}
			gated, err := gate.record()
			if err != nil {
				return err
			}
			if err := fits(f.format, gated != nil, resume != ""); err != nil {
				return err
			}
			if err := s.useMirror(ch.mirror); err != nil {
				return err
			}
			if err := s.usePlaces(ch.places); err != nil {
				return err
			}
			o := s.options()
			o.Progress = newProgress(w, progress)
			o.Wait = wait
			ending, cancel := stopAfter(finish, after)
			defer cancel()
			o.Finish = ending.Done()
			if resume != "" {
				if len(args) > 0 || dir != "" || gated != nil || ch.given(cmd) || where.given(cmd) {
					return fail(Usage, "--resume continues the study of the record: it takes no study, -o, --blocks, --until, --time-budget, --seed, --small, --tuned, --scale, --part, --engine, --claim, --image, --on, --hosts or gate")
				}
				o.Dir, o.Resume, o.Unlike = resume, true, unlike
				if o.Run, o.Plan, err = oldPlan(resume); err != nil {
					return err
				}
				if err := s.allPlaced(o.Plan); err != nil {
					return err
				}
			} else {
				if trust {
					return fail(Usage, "--trust-record is for --resume: a new run has no record yet")
				}
				ch.gated, ch.within = gated != nil, gate.budget
				if o.Plan, err = s.plan(finish, studyName(args), ch); err != nil {
					return err
				}
				if len(o.Plan.Cells) == 0 {
					printPlan(w.Stderr, o.Plan, o.Engines, false)
					return fail(NothingHere, "nothing of this study can be measured here")
				}
				o.Run = &record.Run{Gate: gated, ID: job.id}
				if o.Dir, err = outputDir(dir, studyName(args)); err != nil {
					return err
				}
				if o.Run.Place, err = where.record(); err != nil {
					return err
				}
			}
			for _, m := range o.Plan.Remarks {
				if m.Code == imageOnSame {
					o.Progress.Remark(m.Text)
				}
			}
			o.Place = placeOf(o.Run.Place)
			if o.Workloads, err = ownWorkloads(o.Plan); err != nil {
				return err
			}
			if resume != "" {
				if o.Trusted, err = trustRecord(w, resume, o.Workloads, trust); err != nil {
					return err
				}
			}
			if err := addNoise(o.Run, noise); err != nil {
				return err
			}
			o.Run.Tool = tool()
			if err := describeHost(finish, s, o.Run, force); err != nil {
				return err
			}
			if o.Agents, err = asked.meet(finish, w); err != nil {
				return err
			}
			o.AgentJob = asked.job(w)
			planned := *o.Run
			o.Plan.Record(&planned)
			g, err := newGating(&planned)
			if err != nil {
				return err
			}
			if text := course(o.Plan.Protocol, g != nil, g != nil && planned.Gate.Budget); text != "" {
				o.Progress.Remark(text)
			}
			o.Steering = steering(o.Dir, o.Plan.Protocol, g)
			sum, err := run.Execute(broken, o)
			if err != nil {
				return runError(err, o.Dir, sum != nil)
			}
			return finishRun(w, sum, f, g)
		},
	}
	ch.add(c)
	where.add(c)
	f.add(c, runFormats()...)
	job.add(c)
	c.Flags().StringVar(&gate.base, "gate", "", "compare the run with the one in this directory after 10, 20 and 40 blocks, and end when --fail-above or --thresholds is decided")
	c.Flags().StringArrayVar(&gate.envs, "gate-env", nil, "compare two environments of the run: give it twice, BASE first")
	c.Flags().DurationVar(&gate.budget, "budget", 0, "with --gate or --gate-env: the time that it may take, such as 60s; the number of blocks and of looks is chosen by what fits, and said after the first blocks, with what the gate will find")
	_ = c.MarkFlagDirname("gate") // it fails only for a flag that is not there
	gate.add(c.Flags())
	asked.add(c.Flags())
	c.Flags().Lookup("unlike").Usage += "; with --resume: continue on another machine, kernel or engine version than the run began on"
	c.Flags().StringVarP(&dir, "output", "o", "", "directory of the record (default plimsoll-run-TIME-STUDY)")
	c.Flags().StringVar(&resume, "resume", "", "resume the run in this directory")
	c.Flags().DurationVar(&after, "stop-after", 0, "interrupt the run after this time, such as 2h, when the trial in flight has ended; --resume continues it, on another day too")
	c.Flags().BoolVar(&trust, "trust-record", false, "resume a record that belongs to another user: what it says is executed")
	c.Flags().StringVar(&noise, "noise", "", "record the noise floor in this file, from plimsoll selftest --format json: no gate on this run may be set below it")
	c.Flags().BoolVar(&wait, "wait", false, "wait if another Plimsoll is measuring on this machine")
	c.Flags().BoolVar(&force, "force", false, "measure even if doctor refuses")
	choiceFlag(c, &progress, "progress", "how to show progress", "auto", "bar", "plain", "json", "none")
	return c
}

// stopAfter ends a run in time as the first SIGINT does; 0 is never.
func stopAfter(finish context.Context, after time.Duration) (context.Context, context.CancelFunc) {
	if after <= 0 {
		return context.WithCancel(finish)
	}
	return context.WithTimeout(finish, after)
}

// oldPlan makes the plan of a run that was cut off again.
func oldPlan(dir string) (*record.Run, *study.Plan, error) {
	r, err := openRun(dir)
	if err != nil {
		return nil, nil, err
	}
	old := r.Run()
	p, err := study.FromRun(old)
	if err != nil {
		return nil, nil, fail(Failed, "%w", err)
	}
	for t, err := range r.Trials() {
		if err != nil {
			return nil, nil, fail(Failed, "%w", err)
		}
		if err := p.Check(t); err != nil {
			return nil, nil, fail(Failed, "%w", err)
		}
	}
	return old, p, nil
}

// ownWorkloads are the workloads of the user's files in a plan: they are in it
// as text, so that a run goes on with what it began with.
func ownWorkloads(p *study.Plan) ([]workload.Workload, error) {
	var out []workload.Workload
	seen := map[string]bool{}
	for _, w := range p.Workloads {
		if w.Source == "" || seen[w.Name] {
			continue
		}
		seen[w.Name] = true
		x, err := workload.Of(w)
		if err != nil {
			return nil, fail(Failed, "%w", err)
		}
		out = append(out, x)
	}
	return out, nil
}

// outputDir chooses where the record goes.
func outputDir(dir, name string) (string, error) {
	if dir == "" {
		base := filepath.Base(name)
		base = base[:len(base)-len(filepath.Ext(base))]
		dir = fmt.Sprintf("plimsoll-run-%s-%s", time.Now().Format("20060102-150405"), base)
	}
	return filepath.Abs(dir)
}

// describeHost records the machine, and refuses one that can't be trusted.
func describeHost(ctx context.Context, s *setting, r *record.Run, force bool) error {
	facts, err := host.Machine{}.Facts(s.state.Dir)
	if err != nil {
		return err
	}
	facts.Remarks = s.doctor(ctx)
	r.Host = facts
	if host.Refused(facts.Remarks) && !force {
		printHost(World{Stdout: s.world.Stderr}, facts)
		return withHint(fail(NothingHere, "numbers measured here now could not be trusted"), "--force measures anyway, and the report will say so")
	}
	return nil
}

// runFormats are those of a result and those of a gate's answer.
func runFormats() []string {
	out := report.Formats()
	for _, f := range report.Changes.Formats() {
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
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
	var unlike *run.UnlikeError
	if errors.As(err, &unlike) {
		return withHint(fail(Usage, "%w", err), "resume it where it began, or start a new run; --unlike resumes it here anyway, and the record keeps both")
	}
	var refused *gate.RefusedError
	if errors.As(err, &refused) {
		return withHint(fail(Usage, "%w", err), "%s", refused.Advice)
	}
	if !begun || !holdsRun(dir) {
		return fail(Failed, "%w", err) // there is nothing to go on with
	}
	return withHint(fail(Failed, "%w", err), "what was measured is kept in %s; plimsoll run --resume continues", shortPath(dir))
}

// finishRun prints the table, or a gate's answer, and says where the record lies.
func finishRun(w World, sum *run.Summary, f reportFlags, g *gating) error {
	for _, r := range sum.Residue {
		fmt.Fprintf(w.Stderr, "left behind: %s\n", harmless.Text(r))
	}
	if sum.Unclean != nil {
		for l := range strings.SplitSeq(sum.Unclean.Error(), "\n") {
			fmt.Fprintf(w.Stderr, "cleaning up: %s\n", harmless.Text(l))
		}
	}
	if sum.Unclean != nil || len(sum.Residue) > 0 {
		fmt.Fprintln(w.Stderr, "plimsoll clean removes what a run left behind")
	}
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
	if g != nil && !sum.Interrupted {
		if answer, err = g.judge(res, false); err == nil {
			err = tell(w, &printing{format: f.format, ascii: f.ascii}, report.Changes, answer)
			summariseChanges(w, answer)
		}
		fmt.Fprintf(w.Stderr, "The record is in %s; plimsoll report %s prints its table.\n", path, path)
	} else if slices.Contains(report.Formats(), f.format) {
		err = f.write(w, []*analyze.Result{res})
		fmt.Fprintf(w.Stderr, "The record is in %s; plimsoll report %s prints this again.\n", path, path)
	}
	runPage(w, sum.Dir, res, sum.Trusted...)
	if err != nil && !(sum.Interrupted && isLost(err)) {
		return err
	}
	switch {
	case sum.Interrupted:
		return withHint(fail(Interrupted, "interrupted"), "continue with: plimsoll run --resume %s", path)
	case sum.Unclean != nil || len(sum.Residue) > 0:
		return fail(Failed, "the measurement stands, but not everything could be removed afterwards")
	case answer != nil:
		return gateStatus(answer.Gate, g.strict) // what failed is part of its answer
	case sum.Without() != "":
		return fail(SomeFailed, "%s: the report says which and why", sum.Without())
	}
	return nil
}
