package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// Options are what a run needs from outside.
type Options struct {
	// Run holds what the plan does not: the host's facts, the tool. The rest of
	// it is filled in here.
	Run  *record.Run
	Plan *study.Plan
	// Dir is where the record goes. With Resume it holds a run that was cut off.
	Dir    string
	Resume bool
	// Unlike goes on with a run on another machine, kernel or engine than it was
	// begun on; without it that is an UnlikeError.
	Unlike bool
	// Trusted are users, by number, whose directory Dir may be beside root's
	// and the caller's: the user says so of a record that is gone on with.
	Trusted []int

	Engines []engine.Engine
	// Workloads are the study's own, beside those of the catalogue.
	Workloads []workload.Workload
	State     State
	Root      bool
	User      *engine.User
	NoUser    string
	Getenv    func(string) string
	LookPath  func(string) (string, error)
	Progress  Progress

	// Finish, when done, lets the trial in flight end and then ends the run.
	Finish <-chan struct{}
	// Wait waits for the machine's turn while another Plimsoll measures,
	// instead of giving up at once.
	Wait bool
	// DropFile is written to for a cold cache; empty: the kernel's own.
	DropFile string
	// Settle is how long the host must have been calm before a trial; 0 means
	// one millisecond.
	Settle time.Duration
	// Steering decides how a run goes on whose number of blocks is left open.
	Steering Steering
	// OpenLimit bounds the opening of one environment; 0 means two minutes.
	OpenLimit time.Duration
}

// Summary is how a run went.
type Summary struct {
	Dir         string
	Trusted     []int // as in Options
	Trials      int   // recorded, in all
	Failed      int   // but for those that are unsupported
	Unsupported int   // what the engine can't do
	Interrupted bool
	Excluded    []record.Excluded // those found out while opening
	Residue     []string
	// Unclean says what went wrong in cleaning up: the measurement holds.
	Unclean error
	// Audit holds what else is new on the machine but not of our name.
	Audit []string
}

// ErrNothing is returned where no environment could be opened.
var ErrNothing = errors.New("no environment could be opened: there is nothing to measure")

type runner struct {
	Options
	rec       *record.Run
	kit       *engine.Kit
	engines   map[string]engine.Engine
	known     lookup
	session   *session
	writer    *record.Writer
	ledger    *Ledger
	progress  Progress
	disturb   *host.Sampler
	calm      *host.Quiet
	openLimit time.Duration
	calmFor   time.Duration
	insider   *insider
	begun     time.Time
	pulls     *puller         // nil where the plan has none
	watching  *watching       // nil where nothing is sampled
	tried     map[string]bool // environments that were opened, or half-way so
	// settled says of the trial under way that it was refused for what can't
	// change within the run.
	settled bool
	// was is the record of a resumed run as it stands, until what it says of the
	// engines was held against what they say now; unchanged: it stays so.
	was       *record.Run
	unchanged bool

	sinceGC     int
	heapAfterGC uint64
}

// Execute carries a run out and cleans up after it. ctx breaks the trial in
// flight off; Options.Finish lets it end first. In either case the record can
// be resumed.
func Execute(ctx context.Context, o Options) (*Summary, error) {
	r := &runner{Options: o, rec: o.Run, progress: o.Progress, openLimit: o.OpenLimit, engines: map[string]engine.Engine{}, known: newLookup(), tried: map[string]bool{}}
	if r.calmFor = o.Settle; r.calmFor == 0 {
		r.calmFor = settleFor
	}
	if r.openLimit == 0 {
		r.openLimit = 2 * time.Minute
	}
	r.Engines = engine.Shield(o.Engines)
	for _, e := range r.Engines {
		r.engines[e.Info().Name] = e
	}
	unlock, err := o.Turn(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()

	if err := r.begin(); err != nil {
		return nil, err
	}
	r.sweepAbandoned(ctx)
	before, err := host.Machine{}.Census(ctx)
	if err != nil {
		return nil, errors.Join(err, r.end(nil))
	}
	sum := &Summary{Dir: o.Dir, Trusted: o.Trusted}
	runErr := r.measure(ctx, sum)
	// Cleaning up must go on though the user has interrupted.
	clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Minute)
	defer cancel()
	sum.Unclean = r.cleanUp(clean, before, sum)
	return sum, errors.Join(runErr, r.end(sum))
}

// Turn takes the machine's turn to measure: until unlock nobody else does.
func (o *Options) Turn(ctx context.Context) (unlock func(), err error) {
	const again = 100 * time.Millisecond
	for {
		var beside *host.BusyError
		unlock, beside, err = host.Lock(o.Root, o.Getenv)
		if beside != nil && o.Progress != nil {
			o.Progress.Remark(fmt.Sprintf("an ordinary user's Plimsoll measures at the same time (process %d holds %s): each disturbs the other's numbers", beside.PID, harmless.Text(beside.File)))
		}
		var busy *host.BusyError
		if !o.Wait || !errors.As(err, &busy) {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-o.Finish:
			return nil, err
		case <-time.After(again):
		}
	}
}

// begin opens the record, claims the run's folder and builds the kit.
func (r *runner) begin() (err error) {
	r.rec.Status = "running"
	if r.Resume {
		// The plan was rebuilt from this very record by our caller.
		if r.writer, r.was, err = record.Resume(r.Dir, r.Trusted...); err != nil {
			return err
		}
		r.rec.ID, r.rec.Started, r.rec.Earlier = r.was.ID, r.was.Started, r.was.Earlier
		r.rec.Finished = time.Time{}
		r.begun = time.Now()
		r.rec.Resumed = append(r.rec.Resumed, r.begun)
		r.rec.Tool.Probe = probe.Digest()
		if err := r.likeness(r.was, append(machinesDiffer(r.was.Host, r.rec.Host), toolsDiffer(r.was.Tool, r.rec.Tool)...)); err != nil {
			return errors.Join(err, r.writer.Close())
		}
		r.rec.Host.Remarks = earlierRemarks(r.was.Host.Remarks, r.rec.Host.Remarks)
	} else {
		if r.rec.ID == "" {
			r.rec.ID = NewRunID()
		}
		r.begun = time.Now()
		r.rec.Started = r.begun
		r.Plan.Record(r.rec)
		if r.writer, err = record.Create(r.Dir, r.rec); err != nil {
			return err
		}
	}
	dir, err := r.State.Claim(r.rec.ID, r.Dir, r.User)
	if err != nil {
		return errors.Join(err, r.writer.Close())
	}
	if r.kit, r.ledger, err = NewKit(r.rec.ID, dir, r.Options); err != nil {
		return errors.Join(err, r.writer.Close())
	}
	r.rec.Tool.Probe = probe.Digest()
	r.insider, err = newInsider(r.rec.ID)
	if err == nil {
		r.disturb, err = host.Machine{}.NewSampler("")
	}
	if err == nil {
		r.calm, err = host.Machine{}.NewQuiet()
	}
	return err
}

// NewKit builds what adapters get from outside, with the run's folder as
// their own.
func NewKit(id, dir string, o Options) (*engine.Kit, *Ledger, error) {
	path, err := probe.Extract(dir)
	if err != nil {
		return nil, nil, err
	}
	ledger, err := OpenLedger(filepath.Join(dir, ledgerFile))
	if err != nil {
		return nil, nil, err
	}
	store := image.NewStore(o.State.Images(), probe.Binary(), image.Options{RunID: id, LookPath: o.LookPath})
	return &engine.Kit{
		RunID: id, Dir: dir, ProbePath: path, Images: store,
		LookPath: o.LookPath, Getenv: o.Getenv,
		User: o.User, NoUser: o.NoUser, Root: o.Root, Ledger: ledger,
		Launcher: func(ctx context.Context, opts probe.Options) (*probe.Launcher, error) {
			return probe.Start(ctx, path, opts)
		},
	}, ledger, nil
}

// measure opens the environments and carries out the trials.
func (r *runner) measure(ctx context.Context, sum *Summary) error {
	if r.Resume {
		if err := r.clearAway(ctx); err != nil {
			r.progress.Remark("clearing away what the earlier part of this run left: " + err.Error())
		}
	}
	if err := r.openAll(ctx, sum); err != nil {
		return r.broken(err, sum)
	}
	if r.was != nil {
		if err := r.likeness(r.was, enginesDiffer(r.was.Environments, r.rec.Environments)); err != nil {
			return err
		}
		r.was = nil
	}
	r.describeImages(ctx)
	jobs, err := r.jobs()
	if err != nil {
		return err
	}
	if err := r.startWatching(ctx, jobs); err != nil {
		return err
	}
	if err := r.writer.Update(r.rec); err != nil {
		return err
	}
	if len(r.session.envs) == 0 || len(r.Plan.Cells) == 0 {
		return ErrNothing
	}
	return r.broken(r.trials(ctx, sum), sum)
}

// clearAway removes what the earlier part of a resumed run left: the trial in
// flight when it was killed is done again, under the same name.
func (r *runner) clearAway(ctx context.Context) error {
	if _, err := SweepAll(ctx, r.kit, r.Engines); err != nil {
		return err // something may still be mounted below: nothing is deleted there
	}
	entries, err := os.ReadDir(r.kit.Dir)
	errs := []error{err}
	for _, e := range entries {
		if e.IsDir() { // the files are ours: owner, ledger, probe
			errs = append(errs, os.RemoveAll(filepath.Join(r.kit.Dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}

// broken turns the end of the context into an interruption.
func (r *runner) broken(err error, sum *Summary) error {
	if errors.Is(err, context.Canceled) {
		sum.Interrupted = true
		return nil
	}
	return err
}

// describeImages records the images in use.
func (r *runner) describeImages(ctx context.Context) {
	seen := map[string]bool{}
	for _, im := range r.rec.Images {
		seen[im.Name] = true
	}
	names := r.pulls.names()
	for _, e := range r.rec.Environments {
		for _, o := range r.session.sorted() {
			if o.rec.ID != e.ID || o.virtual || e.Baseline == "host" {
				continue
			}
			if o.image != "" {
				names = append(names, o.image)
			} else {
				names = append(names, engine.ImageName(engine.Spec{Levels: e.Levels}))
			}
		}
	}
	for _, name := range names {
		if seen[name] {
			continue
		}
		im, err := r.kit.Images.Get(ctx, name)
		if err != nil {
			r.progress.Remark("describing image " + name + ": " + err.Error())
			continue
		}
		seen[name] = true
		r.rec.Images = append(r.rec.Images, record.Image{Name: im.Name, Digest: im.Digest, Tree: im.Tree, Bytes: im.Bytes, Facts: im.Facts})
	}
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
	r.progress.Planned(already+c.todo(), already)
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
		left, total := c.left(sum.Trials)
		r.progress.Trial(Upcoming{
			Done: sum.Trials, Total: total, Failed: sum.Failed, Unsupported: sum.Unsupported, AtMost: c.open,
			Env: p.Env.ID, Workload: p.Workload.ID,
			Block: p.Block + 1 - r.rec.Protocol.Warmup, Blocks: r.rec.Protocol.Blocks, Warmup: p.Warmup, Left: left,
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
		if err := r.write(t, res, jobs[p.Cell].Plan != nil); err != nil {
			return err
		}
		sum.Trials++
		sum.count(t)
		if f := t.Failure; f != nil {
			r.progress.Failed(Failed{Seq: t.Seq, Env: t.Env, Workload: t.Workload, Class: f.Class, Text: f.Text, Untried: f.Untried})
		}
		c.did(p.Cell, time.Since(begin))
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
			t = blank(p)
			t.At = time.Now()
			t.Failure, res, err = failureOf(panicked(fault)), engine.Result{}, nil
		}
	}()
	if o := r.session.envs[opened{p.Env.ID, j.image}]; o != nil {
		switch {
		case j.Pull != nil:
			return r.pull(ctx, p, o, *j.Pull)
		case j.Plan != nil:
			return r.planned(ctx, p, o, j.Plan)
		case j.Exec:
			return r.exec(ctx, p, o, j.Instance)
		case j.Density != nil:
			return r.density(ctx, p, o, *j.Density)
		case j.Load != nil:
			return r.load(ctx, p, o, *j.Load)
		}
		return r.trial(ctx, p, o, j.Instance)
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
	t := blank(p)
	t.At = time.Now()
	t.Failure = &record.Failure{Class: record.Unavailable, Text: why}
	return t
}

// blank is the record of a trial before anything is known of it.
func blank(p study.Trial) *record.Trial {
	return &record.Trial{
		Seq: p.Seq, Block: p.Block, Warmup: p.Warmup,
		Env: p.Env.ID, Workload: p.Workload.ID, Params: p.Workload.Params,
	}
}

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

// cleanUp closes the environments, sweeps what is left and audits the machine.
func (r *runner) cleanUp(ctx context.Context, before *host.Census, sum *Summary) error {
	r.progress.Step("cleaning up")
	var errs []error
	if r.session != nil {
		errs = append(errs, r.session.closeAll(ctx, 2*r.openLimit))
	}
	errs = append(errs, r.pulls.close(), r.watching.close())
	removed, err := SweepAll(ctx, r.kit, r.Engines)
	for _, it := range removed {
		r.progress.Remark("left by the run, and removed at its end: " + it)
	}
	errs = append(errs, err)
	if store, ok := r.kit.Images.(*image.Store); ok {
		errs = append(errs, store.Close())
	}
	ours, others, err := audit(ctx, before, r.kit, r.Engines)
	sum.Residue, sum.Audit = ours, others
	r.rec.Residue = ours
	r.progress.End()
	return errors.Join(append(errs, err)...)
}

// end writes the last of the record and lets go of the run's folder.
func (r *runner) end(sum *Summary) error {
	r.rec.Status = "interrupted"
	if sum != nil && !sum.Interrupted {
		r.rec.Status = "done"
	}
	r.rec.Finished = time.Now()
	if r.was != nil { // it did not come to a trial
		r.rec.Environments = r.was.Environments
	}
	var errs []error
	if !r.unchanged {
		errs = append(errs, r.writer.Update(r.rec))
	}
	errs = append(errs, r.writer.Close(), r.ledger.Close())
	if sum != nil && len(sum.Residue) == 0 && sum.Unclean == nil {
		errs = append(errs, r.State.Release(r.rec.ID))
	}
	if r.disturb != nil {
		errs = append(errs, r.disturb.Close())
	}
	if r.calm != nil {
		errs = append(errs, r.calm.Close())
	}
	return errors.Join(errs...)
}

func (r *runner) limit() time.Duration {
	if l := r.rec.Protocol.TrialLimitNS; l > 0 {
		return time.Duration(l)
	}
	return 30 * time.Second
}

// quiet waits until the host is calm, within the bound that host sets: a busy
// host is a remark on the trial, not a run that never ends.
func (r *runner) quiet(ctx context.Context) (time.Duration, bool) {
	c := r.calm.Wait(ctx, host.Limit{Window: r.calmFor})
	return c.Waited, c.Reached
}

// settleFor is how long the host must have been calm before a trial. It is
// short: what the kernel remembers of the trial before is part of starting
// containers one after another, and random order shares it out. Whoever wants
// each start to be a lone one names a pause of 25 ms in the study: see
// docs/decisions.md for what that changes.
const settleFor = time.Millisecond

func (r *runner) inside(env string, report map[string]string) record.Inside {
	return r.insider.read(env, report)
}
