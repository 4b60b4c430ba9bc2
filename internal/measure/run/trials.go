package run

import (
	"context"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// job is what runs in one cell of the plan, and with which image.
type job struct {
	workload.Instance
	image string
}

// jobs gives for each cell of the plan what runs in it.
func (r *runner) jobs() ([]job, error) {
	out := make([]job, len(r.Plan.Cells))
	for i, c := range r.Plan.Cells {
		rw := r.Plan.Workloads[c.Workload]
		inst, err := r.instance(&rw)
		if err != nil {
			return nil, err
		}
		out[i] = job{inst, r.imageOf(&r.Plan.Environments[c.Env], rw.Name)}
	}
	return out, nil
}

// trials carries out what is still to be done of the plan.
func (r *runner) trials(ctx context.Context, sum *Summary) error {
	jobs, err := r.jobs()
	if err != nil {
		return err
	}
	c, err := r.newCourse()
	if err != nil {
		return err
	}
	already := len(r.writer.Complete())
	sum.Trials = already
	if r.Resume {
		if err := sum.countEarlier(r.Dir); err != nil {
			return err
		}
	}
	planned := already + c.todo()
	if r.rec.Protocol.TimeBudgetNS > 0 {
		planned = 0
	}
	r.progress.Planned(planned, already, c.open)
	defer r.progress.End()
	defer collectorOff()()

	since := usageNow()
	for p := range r.Plan.From(0) {
		if on, err := c.enter(p.Block); err != nil || !on {
			return err
		}
		if c.gone[p.Cell] || r.writer.Complete()[p.Seq] {
			continue
		}
		select {
		case <-r.Finish:
			sum.Interrupted = true
			return nil
		default:
		}
		left, total, blocks := c.left(sum.Trials)
		r.progress.Trial(Upcoming{
			Done: sum.Trials, Total: total, Failed: sum.Failed, Unsupported: sum.Unsupported, AtMost: c.open,
			Env: p.Env.ID, Workload: p.Workload.ID,
			Block: p.Block + 1 - r.rec.Protocol.Warmup, Blocks: blocks, Warmup: p.Warmup, Left: left,
			Own: r.ownShare(),
		})
		begin := time.Now()
		var t *record.Trial
		var res engine.Result
		if no := c.refused[p.Cell]; no != nil {
			t = unbegun(p, no)
		} else if t, res, err = r.carryOut(ctx, p, jobs[p.Cell], sum); err != nil {
			return err
		} else if f := t.Failure; r.settled && f != nil && f.Class == record.Unsupported {
			c.refused[p.Cell] = f
		}
		r.keepAgents(t)
		if err := r.write(t, res, jobs[p.Cell].Plan != nil); err != nil {
			return err
		}
		sum.Trials++
		sum.count(t)
		if f := t.Failure; f != nil {
			r.progress.Failed(Failed{Seq: t.Seq, Env: t.Env, Workload: t.Workload, Class: f.Class, Text: f.Text, Untried: f.Untried})
		}
		c.did(p.Cell, p.Block, time.Since(begin))
		if o := r.session.envs[opened{p.Env.ID, jobs[p.Cell].image}]; o != nil && !o.virtual {
			own := r.own()
			since.addTo(&own.CPU, &own.Wall)
		}
		since = usageNow()
	}
	_, err = c.enter(r.rec.Protocol.Warmup + r.rec.Protocol.Blocks)
	return err
}

// carryOut gives the record of one trial, run or lost.
func (r *runner) carryOut(ctx context.Context, p study.Trial, j job, sum *Summary) (t *record.Trial, res engine.Result, err error) {
	r.settled = false
	defer func() {
		// What an adapter's calls are not guarded against one by one is this trial's alone.
		if fault := recover(); fault != nil {
			t, res, err = undone(p, engine.FailureOf(panicked(fault))), engine.Result{}, nil
		}
	}()
	if o := r.session.envs[opened{p.Env.ID, j.image}]; o != nil {
		if err := r.tuner.to(r.tunedLevel(o.rec)); err != nil {
			return undone(p, engine.FailureOf(&engine.Error{Class: record.HarnessError, Text: "the machine could not be tuned for this trial", Err: err})), res, nil
		}
		r.prover.begin()
		t, res, err = r.protocol(j.Instance).trial(ctx, p, o)
		if t != nil && r.prover != nil {
			r.proveBuild(t, p.Env, o.env, j.Pull == nil)
		}
		return t, res, err
	}
	return r.lost(p, sum), engine.Result{}, nil
}

// write appends a trial; what a failed one printed, and what a benchmark
// printed, is kept beside it.
func (r *runner) write(t *record.Trial, res engine.Result, keep bool) error {
	if t.Failure != nil {
		t.Failure.Text = bounded(t.Failure.Text)
	}
	if (!t.OK() || keep) && len(res.Stdout)+len(res.Stderr) > 0 {
		name, err := r.writer.WriteOutput(t.Seq, res.Stdout, res.Stderr)
		if err != nil {
			return err
		}
		t.Output = name
	}
	return r.writer.Append(t)
}

// lost is a trial of an environment that was there when the run began and
// can't be opened now that it is resumed.
func (r *runner) lost(p study.Trial, sum *Summary) *record.Trial {
	why := "the environment could not be opened again when the run was resumed"
	for _, x := range sum.Excluded {
		if x.ID == p.Env.ID {
			why += ": " + x.Reason
		}
	}
	return undone(p, &record.Failure{Class: record.Unavailable, Text: why})
}

// blank is the record of a trial before anything is known of it.
func blank(p study.Trial) *record.Trial {
	return &record.Trial{
		Seq: p.Seq, Block: p.Block, Warmup: p.Warmup,
		Env: p.Env.ID, Workload: p.Workload.ID, Params: p.Workload.Params,
	}
}

// undone is one that failed before it was begun.
func undone(p study.Trial, f *record.Failure) *record.Trial {
	t := blank(p)
	t.At, t.Failure = time.Now(), f
	return t
}

// begun is one that begins now.
func begun(p study.Trial, o *openEnv) *record.Trial {
	t := blank(p)
	t.Clock, t.At = o.clock, time.Now()
	return t
}
