package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/host"
	"plimsoll/internal/record"
	"plimsoll/internal/run"
	"plimsoll/internal/study"
	"plimsoll/internal/workload"
)

func runCommand(w World) *cobra.Command {
	f := reportFlags{format: "text"}
	var (
		ch       changes
		dir      string
		resume   string
		noise    string
		progress = "auto"
		force    bool
		wait     bool
	)
	c := &cobra.Command{
		Use:   "run [STUDY]",
		Short: "Measure, and print the table",
		Long: `Measures the environments of a study, by default of the bundled study "quick",
and prints the table. A study is the name of a bundled one (plimsoll studies) or
the path of a file.

The first SIGINT ends the run after the trial in flight, the second breaks it
off; both clean up, and --resume goes on later.`,
		Example: `  plimsoll run
  plimsoll run quick --engine docker,podman --blocks 30
  plimsoll run baresi2024 --scale quick
  plimsoll run ./my.yaml -o results
  plimsoll run --resume results`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeStudies,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := newSetting(w)
			if err != nil {
				return err
			}
			finish, broken, stop := w.Signals()
			defer stop()
			o := s.options()
			o.Progress = newProgress(w, progress)
			o.Finish, o.Wait = finish.Done(), wait
			if resume != "" {
				if len(args) > 0 || dir != "" || cmd.Flags().Changed("blocks") || cmd.Flags().Changed("seed") || ch.small || ch.scale != "" || len(ch.engines) > 0 {
					return fail(Usage, "--resume goes on with the study of the record: it takes no study, -o, --blocks, --seed, --small, --scale or --engine")
				}
				o.Dir, o.Resume = resume, true
				if o.Run, o.Plan, err = oldPlan(resume); err != nil {
					return err
				}
			} else {
				if o.Plan, err = s.plan(finish, studyName(args), ch); err != nil {
					return err
				}
				if len(o.Plan.Cells) == 0 {
					printPlan(w.Stderr, o.Plan, false)
					return fail(NothingHere, "nothing of this study can be measured here")
				}
				o.Run = &record.Run{}
				if o.Dir, err = outputDir(dir, studyName(args)); err != nil {
					return err
				}
			}
			if o.Workloads, err = ownWorkloads(o.Plan); err != nil {
				return err
			}
			if err := addNoise(o.Run, noise); err != nil {
				return err
			}
			o.Run.Tool = tool()
			if err := describeHost(finish, s, o.Run, force); err != nil {
				return err
			}
			sum, err := run.Execute(broken, o)
			if err != nil {
				return runError(err, o.Dir)
			}
			return finishRun(w, sum, f)
		},
	}
	ch.add(c)
	f.add(c)
	c.Flags().StringVarP(&dir, "output", "o", "", "directory of the record (default plimsoll-run-TIME-STUDY)")
	c.Flags().StringVar(&resume, "resume", "", "go on with the run in this directory")
	c.Flags().StringVar(&noise, "noise", "", "record the noise floor in this file, from plimsoll selftest --format json: no gate on this run may lie under it")
	c.Flags().BoolVar(&wait, "wait", false, "wait while another Plimsoll measures on this machine")
	c.Flags().BoolVar(&force, "force", false, "measure though doctor refuses")
	choiceFlag(c, &progress, "progress", "how to show the course", "auto", "bar", "plain", "json", "none")
	return c
}

// oldPlan makes the plan of a run that was cut off again.
func oldPlan(dir string) (*record.Run, *study.Plan, error) {
	r, err := record.Open(dir)
	if err != nil {
		return nil, nil, fail(Failed, "%w", err)
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
	facts.Remarks = host.Machine{}.Doctor(ctx, s.state.Dir)
	r.Host = facts
	if host.Refused(facts.Remarks) && !force {
		printHost(World{Stdout: s.world.Stderr}, facts)
		return withHint(fail(NothingHere, "numbers measured here now could not be trusted"), "--force measures all the same, and the report will say so")
	}
	return nil
}

// runError gives an error of a run its status.
func runError(err error, dir string) error {
	if errors.Is(err, run.ErrNothing) {
		return withHint(fail(NothingHere, "%w", err), "plimsoll engines says what is missing and what would help")
	}
	if _, none := os.Stat(dir); none != nil {
		return fail(Failed, "%w", err) // it did not come to a first trial
	}
	return withHint(fail(Failed, "%w", err), "what was measured is kept in %s; plimsoll run --resume goes on", shortPath(dir))
}

// finishRun prints the table and says where the record lies.
func finishRun(w World, sum *run.Summary, f reportFlags) error {
	for _, r := range sum.Residue {
		fmt.Fprintf(w.Stderr, "left behind: %s\n", r)
	}
	if sum.Unclean != nil {
		fmt.Fprintf(w.Stderr, "cleaning up: %v\n", sum.Unclean)
	}
	if sum.Unclean != nil || len(sum.Residue) > 0 {
		fmt.Fprintln(w.Stderr, "plimsoll clean removes what a run left behind")
	}
	path := shortPath(sum.Dir)
	if sum.Interrupted && sum.Trials == 0 {
		return withHint(fail(Interrupted, "interrupted before the first trial"), "go on with: plimsoll run --resume %s", path)
	}
	if err := recordTwins(sum.Dir); err != nil {
		return fail(Failed, "recording the noise floor: %w", err)
	}
	if err := printReport(w, w.Stdout, sum.Dir, f); err != nil {
		return err
	}
	fmt.Fprintf(w.Stderr, "The record is in %s; plimsoll report %s prints this again.\n", path, path)
	switch {
	case sum.Interrupted:
		return withHint(fail(Interrupted, "interrupted"), "go on with: plimsoll run --resume %s", path)
	case sum.Unclean != nil || len(sum.Residue) > 0:
		return fail(Failed, "the measurement holds, but not everything could be taken away after it")
	case sum.Failed > 0:
		return fail(SomeFailed, "%d of %d trials failed: the report says which and why", sum.Failed, sum.Trials)
	}
	return nil
}

// shortPath is relative to where the user stands, if that is shorter.
func shortPath(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	rel, err := filepath.Rel(wd, path)
	if err != nil || len(rel) > len(path) {
		return path
	}
	return rel
}
