package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/host"
	"plimsoll/internal/measure/imagestore"
	"plimsoll/internal/measure/likeness"
	"plimsoll/internal/measure/place"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/trace"
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
	// begun on; without it that is a likeness.Error.
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
	Mirror    imagestore.Mirror // is asked for Docker Hub's images
	From      string            // a further image store, to read from
	Progress  Progress
	// ImageOn are directories by level of the factor image-on.
	ImageOn map[string]string

	// Finish, when done, lets the trial in flight end and then ends the run.
	Finish <-chan struct{}
	// Held: the caller has changed a kernel setting by State.SetKernel, which is to
	// last as long as the run. Else what is noted is a killed run's, and is put back.
	Held bool
	// Begun, where given, is called when the machine's turn to measure is ours.
	Begun func()
	// Judge, where given, looks at the machine when this run has its turn, before anything is
	// measured; its error ends the run.
	Judge func(context.Context) error
	// Wait waits for the machine's turn while another Plimsoll measures,
	// instead of giving up at once.
	Wait bool
	// DropFile is written to for a cold cache; empty: the kernel's own.
	DropFile string
	// Settle is how long the host must have been calm before a trial; 0 means
	// one millisecond.
	Settle time.Duration
	// Place is where the ranks of parallel workloads run; the zero value is this
	// machine.
	Place place.Place
	// Steering decides how a run goes on whose number of blocks is left open.
	Steering Steering
	// Agents are asked what the storage's servers and clients did in each trial,
	// for AgentJob's requests alone where they can tell them apart.
	Agents   []Agent
	AgentJob string
	// Trace follows every second life cycle of an environment through the kernel;
	// nil: none.
	Trace *trace.Options
	// TraceFrom and TraceUntil are the events between which a life cycle is explained;
	// without them the start, from the request until it is ready.
	TraceFrom, TraceUntil record.Event
	// Spans is where daemons of ours send their own spans; nil: they make none.
	Spans *engine.Collector
	// AtOnce is how many life cycles begin together in every second pair of blocks;
	// up to 1: each is alone.
	AtOnce int
	// Whole: where anything of the plan can't be opened, nothing is measured, and that
	// is ErrLacking.
	Whole bool
	// OpenLimit bounds the opening of one environment; 0 means two minutes.
	OpenLimit time.Duration

	// machine is where the census is taken, for tests of other things: counting what is
	// on this one takes longer than a simulated run.
	machine host.Machine
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

// nothing is ErrNothing with the first reason: it is read where progress isn't.
func nothing(excluded []record.Excluded) error {
	if len(excluded) == 0 {
		return ErrNothing
	}
	return fmt.Errorf("%w; %s: %s", ErrNothing, excluded[0].ID, excluded[0].Reason)
}

// ErrLacking is returned where something of a plan that is worth nothing but as a
// whole could not be opened: the summary says what, and why.
var ErrLacking = errors.New("not all of it could be opened, and a part of it says nothing")

// runner carries a plan out: it opens what the plan names, has each trial
// carried out by its protocol, and takes everything away again.
type runner struct {
	Options
	site
	engines   map[string]engine.Engine
	known     lookup
	session   *session
	ledger    *Ledger
	openLimit time.Duration
	begun     time.Time
	pulls     *puller         // nil where the plan has none
	tuner     *tuner          // nil where the machine stays as it is
	prover    *prover         // nil where no environment is of a build
	tried     map[string]bool // environments that were opened, or half-way so
	// ways are the transports of parallel trials, by workload and environment.
	ways map[string]map[string]string
	// host is this machine's MPI library, for ranks that are to load it.
	host hostLibrary
	// was is the record of a resumed run as it stands, until what it says of the
	// engines was held against what they say now; unchanged: it stays so.
	was       *record.Run
	unchanged bool
}

// Execute carries a run out and cleans up after it. ctx breaks the trial in
// flight off; Options.Finish lets it end first. In either case the record can
// be resumed.
func Execute(ctx context.Context, o Options) (*Summary, error) {
	r := &runner{Options: o, site: newSite(&o), openLimit: child.Stretch(cmp.Or(o.OpenLimit, 2*time.Minute)), engines: map[string]engine.Engine{}, known: newLookup(), tried: map[string]bool{}, ways: map[string]map[string]string{}}
	r.Engines = engine.Shield(o.Engines)
	r.processes = engine.AllProcesses(r.Engines)
	for _, e := range r.Engines {
		r.engines[e.Info().Name] = e
	}
	unlock, err := o.Turn(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if o.Begun != nil {
		o.Begun()
	}
	if o.Judge != nil {
		if err := o.Judge(ctx); err != nil {
			return nil, err
		}
	}

	if err := r.begin(); err != nil {
		return nil, err
	}
	if !r.Held {
		if err := r.State.RestoreKernel(); err != nil {
			r.progress.Remark(err.Error())
		}
	}
	if why := r.State.closedTo(r.User); why != "" {
		r.progress.Remark(why)
	}
	r.sweepAbandoned(ctx)
	before, err := r.machine.Census(ctx)
	if err != nil {
		return nil, errors.Join(err, r.end(nil))
	}
	putBack, err := adapter.NoteNull(r.kit)
	if err != nil {
		return nil, errors.Join(err, r.end(nil))
	}
	sum := &Summary{Dir: o.Dir, Trusted: o.Trusted}
	runErr := r.measure(ctx, sum)
	// Cleaning up must go on though the user has interrupted.
	clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Minute)
	defer cancel()
	sum.Unclean = r.cleanUp(clean, before, putBack, sum)
	r.dismissAgents()
	return sum, errors.Join(runErr, r.end(sum))
}

// measure opens the environments and carries out the trials.
func (r *runner) measure(ctx context.Context, sum *Summary) error {
	if r.Resume {
		if err := r.clearAway(ctx); err != nil {
			r.progress.Remark("cleaning up what the earlier part of this run left: " + err.Error())
		}
	}
	r.kit.AllBuilds = r.rec.Builds
	r.prover = newProver(r.rec.Builds, append([]string{r.kit.Dir, r.State.Dir}, standard...)...)
	if err := r.openAll(ctx, sum); err != nil {
		return r.broken(err, sum)
	}
	r.describeImages(ctx)
	if r.was != nil {
		if err := r.likeness(r.was, append(likeness.Engines(r.was.Environments, r.rec.Environments), r.otherImages()...)); err != nil {
			return err
		}
		r.was = nil
	}
	jobs, err := r.jobs()
	if err != nil {
		return err
	}
	if err := r.startWatching(ctx, jobs); err != nil {
		return err
	}
	r.callAgents()
	if r.tuner, err = r.startTuning(); err != nil {
		return err
	}
	if err := r.writer.Update(r.rec); err != nil {
		return err
	}
	if len(r.session.envs) == 0 || len(r.Plan.Cells) == 0 {
		return nothing(sum.Excluded)
	}
	if r.Whole && len(sum.Excluded) > 0 {
		return ErrLacking
	}
	return r.broken(r.trials(ctx, sum), sum)
}

// broken turns the end of the context into an interruption.
func (r *runner) broken(err error, sum *Summary) error {
	if errors.Is(err, context.Canceled) {
		sum.Interrupted = true
		return nil
	}
	return err
}
