//go:build linux

package cli

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/remark"
	"plimsoll/internal/measure/build"
	"plimsoll/internal/measure/host"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/record"
)

// run measures, and prints what came of it.
func (a *runAsked) run(w World, cmd *cobra.Command, args []string) error {
	if a.portable.on || a.resume != "" && ofPortable(a.resume) {
		return a.byInterface(w, cmd, args)
	} else if len(a.portable.archives) > 0 {
		return fail(Usage, "--image-archive is for --portable: here images are built")
	}
	w, finish, broken, stop := w.interrupts()
	defer stop()
	s, err := newSetting(w)
	if err != nil {
		return err
	}
	if hosts, err := a.byHosts(cmd); err != nil {
		return err
	} else if hosts {
		return runByHosts(w, cmd, args, a, finish, broken)
	}
	if slurm, err := a.job.bySlurm(cmd, a.where.on, a.resume); err != nil {
		return err
	} else if slurm {
		return runBySlurm(w, cmd, args, a, finish, broken)
	}
	o, err := a.options(finish, s, cmd, args)
	if err != nil {
		return err
	}
	ending, begin, cancel := stopAfter(finish, a.after)
	defer cancel()
	o.Finish, o.Begun = ending.Done(), begin
	for _, m := range o.Plan.Remarks {
		if m.Code == imageOnSame || m.Code == buildsUnused {
			o.Progress.Remark(m.Text)
		}
	}
	if err := describeHost(finish, s, &o, a.force); err != nil {
		return err
	}
	beware(o)
	if o.Agents, err = a.agents.meet(finish, w); err != nil {
		return err
	}
	o.AgentJob = a.agents.job(w)
	planned := *o.Run
	o.Plan.Record(&planned)
	g, err := newGating(&planned)
	if err != nil {
		return err
	}
	if text := course(o.Plan.Protocol, g != nil, g != nil && planned.Gate.Budget); text != "" {
		o.Progress.Remark(text)
	}
	o.Steering = steering(o.Dir, &planned, g)
	sum, err := run.Execute(broken, o)
	if err != nil {
		return runError(err, o.Dir, sum != nil)
	}
	return finishRun(w, sum, a.reportFlags, g)
}

// beware says what weighs on this machine before anything is measured.
func beware(o run.Options) {
	bewareHost(o)
	for _, text := range build.OneDaemon(o.Run.Builds) {
		o.Progress.Remark("beware: " + text)
	}
}

// bewareHost says what the doctor has found that weighs.
func bewareHost(o run.Options) {
	for _, m := range o.Run.Host.Remarks {
		if m.Level == "warn" && remark.Weighs(m.Code) {
			o.Progress.Remark("beware: " + m.Text)
		}
	}
}

// options are what is run by, planned anew or taken from the record that is
// resumed.
func (a *runAsked) options(finish context.Context, s *setting, cmd *cobra.Command, args []string) (o run.Options, err error) {
	unlike := a.gate.unlike
	if a.resume != "" {
		a.gate.unlike = false // it is not for a gate, which the record has
		if err := keepsStudy(cmd.Flags(), args); err != nil {
			return o, err
		}
	} else if err := takesRecord(a.dir); err != nil {
		return o, err
	}
	gated, err := a.gate.record()
	if err != nil {
		return o, err
	}
	if err := fits(a.format, gated != nil, a.resume != ""); err != nil {
		return o, err
	}
	if err := s.useMirror(a.changes.mirror); err != nil {
		return o, err
	}
	if err := s.usePlaces(a.changes.places); err != nil {
		return o, err
	}
	if a.resume == "" {
		if err := s.useBuilds(finish, &a.changes.builds); err != nil {
			return o, err
		}
	}
	o = s.options()
	o.Progress = newProgress(s.world, a.progress)
	o.Wait = a.wait
	if a.resume != "" {
		o.Dir, o.Resume, o.Unlike = a.resume, true, unlike
		if o.Run, o.Plan, err = oldPlan(a.resume); err != nil {
			return o, err
		}
		if err = s.allPlaced(o.Plan); err == nil {
			err = s.sameBuilds(&a.changes.builds, o.Run)
		}
	} else {
		err = a.plan(finish, s, cmd, args, gated, &o)
	}
	if err != nil {
		return o, err
	}
	o.Place = placeOf(o.Run.Place)
	if o.Workloads, err = ownWorkloads(o.Plan); err != nil {
		return o, err
	}
	if a.resume != "" {
		if o.Trusted, err = trustRecord(s.world, a.resume, o.Workloads, a.trust); err != nil {
			return o, err
		}
	}
	if err := addNoise(o.Run, a.noise); err != nil {
		return o, err
	}
	o.Run.Tool = tool()
	o.Whole = ofAb(o.Run) // of two builds one says nothing
	return o, nil
}

// plan plans a new run, and writes down by which arguments.
func (a *runAsked) plan(finish context.Context, s *setting, cmd *cobra.Command, args []string, gated *record.Gate, o *run.Options) (err error) {
	if a.trust {
		return fail(Usage, "--trust-record is for --resume: a new run has no record yet")
	}
	name := a.changes.take(cmd, args)
	if err := s.chooseImage(finish, &a.changes, cmd.Flags()); err != nil {
		return err
	}
	a.changes.gated, a.changes.within = gated != nil, a.gate.budget
	if o.Plan, err = s.plan(finish, name, a.changes); err != nil {
		return err
	}
	built, err := s.offerImages(finish, o, a.yes)
	if err != nil {
		return err
	}
	if built {
		if o.Plan, err = s.plan(finish, name, a.changes); err != nil {
			return err
		}
	}
	if len(o.Plan.Cells) == 0 {
		printPlan(s.world.Stderr, o.Plan, o.Engines, "", false)
		return fail(NothingHere, "nothing of this study can be measured here")
	}
	by := ""
	if a.job.id != "" {
		by = onSlurm // the login node was asked, and asked this one
	}
	builds, unbound, err := s.usedBuilds(&a.changes.builds, o.Plan, cmd.Flags())
	if err := cmp.Or(err, unbound); err != nil {
		return err
	}
	o.Run = &record.Run{Gate: gated, ID: a.job.id, Builds: builds, Arguments: repeating(cmd.Flags(), name, a.changes.command.argv, by, o.Plan.Protocol.Seed)}
	if o.Dir, err = outputDir(a.dir, name); err != nil {
		return err
	}
	o.Run.Place, err = a.where.record()
	return err
}

// stopAfter ends a run in time as the first SIGINT does; 0 is never. The time begins with
// the machine's turn: waiting for it measures nothing.
func stopAfter(finish context.Context, after time.Duration) (ending context.Context, begin func(), cancel context.CancelFunc) {
	ending, cancel = context.WithCancel(finish)
	begin = func() {
		if after > 0 {
			time.AfterFunc(after, cancel)
		}
	}
	return ending, begin, cancel
}

// describeHost records the machine, and refuses one that can't be trusted. A run that
// waits for its turn judges the machine when it has the turn: until then another Plimsoll
// keeps it busy.
func describeHost(ctx context.Context, s *setting, o *run.Options, force bool) error {
	facts, err := host.Machine{}.Facts(s.state.Dir)
	if err != nil {
		return err
	}
	o.Run.Host = facts
	asked := *o
	if !o.Wait {
		return judgeHost(ctx, s, asked.Run, force)
	}
	o.Judge = func(ctx context.Context) error {
		err := judgeHost(ctx, s, asked.Run, force)
		if err == nil && asked.Progress != nil {
			bewareHost(asked)
		}
		return err
	}
	return nil
}

// judgeHost has the doctor look at the machine.
func judgeHost(ctx context.Context, s *setting, r *record.Run, force bool) error {
	r.Host.Remarks = s.doctor(ctx)
	if host.Refused(r.Host.Remarks) && !force {
		printHost(World{Stdout: s.world.Stderr}, r.Host)
		return withHint(fail(NothingHere, "numbers measured here now could not be trusted"), "--force measures anyway, and the report will say so")
	}
	return nil
}

// byInterface runs with what of the flags the other half has.
func (a *runAsked) byInterface(w World, cmd *cobra.Command, args []string) error {
	if err := portableOnly(cmd, args); err != nil {
		return err
	}
	if cmd.ArgsLenAtDash() >= 0 {
		return fail(Usage, "a command behind -- is not for --portable, which runs studies")
	}
	return runPortable(w, &portableAsked{
		report: a.reportFlags, study: studyName(args), scale: a.changes.scale, parts: a.changes.parts, engines: a.changes.engines,
		blocks: a.changes.blocks, seed: a.changes.seed, small: a.changes.small, dir: a.dir, archives: a.portable.archives,
		resume: a.resume, unlike: a.gate.unlike, trust: a.trust,
	})
}
