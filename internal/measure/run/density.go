package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

const (
	// washOut is how long the machine is left alone before the ramp and after
	// it, so that what the kernel frees late is freed.
	washOut = time.Second
	// snapshots is about how many times memory is read on each way: that costs
	// time in proportion to the containers.
	snapshots = 20
	// stopGrace is what a container has between SIGTERM and SIGKILL.
	stopGrace = 5 * time.Second
	// heapWhole lets the garbage collector work in trials that run many
	// containers, though it is off otherwise.
	heapWhole = 512 << 20
)

// ramp is a density trial under way.
type ramp struct {
	r      *runner
	o      *openEnv
	what   workload.Density
	seq    int
	holder engine.Holder
	every  int // containers between two snapshots

	held    []*rampHeld
	steps   []record.DensityStep
	remarks []string
	before  usage       // of the machine's limits
	down    record.Step // when the way down began
}

// rampHeld is one container of a ramp.
type rampHeld struct {
	engine.Held
	word string
	up   int // the place of its step
}

// density carries out a ramp: one trial. However it ends, nothing of it is left.
func (r *runner) density(ctx context.Context, p study.Trial, o *openEnv, what workload.Density) (*record.Trial, engine.Result, error) {
	t := blank(p)
	t.Clock = o.clock
	t.At = time.Now()
	holder, ok := o.env.(engine.Holder)
	if !ok {
		r.refuse(t, noHolder(o.rec.ID))
		return t, engine.Result{}, nil
	}
	if err := r.settle(ctx, o, t); err != nil || !t.OK() {
		return unsettled(t, err)
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(heapWhole))
	a := &ramp{r: r, o: o, what: what, seq: p.Seq, holder: holder, every: max(1, what.Count/snapshots)}
	var failure *record.Failure
	r.observe(o, t, func() {
		failure = a.run(ctx)
		a.clear(ctx)
	})
	if ctx.Err() != nil {
		return nil, engine.Result{}, ctx.Err()
	}
	t.Failure = failure
	a.fill(t)
	return t, engine.Result{}, nil
}

// run goes up, rests, and comes down. A limit that was hit on the way is a
// step of the series; a failure is for a ramp that never began or did not end
// cleanly.
func (a *ramp) run(ctx context.Context) *record.Failure {
	a.wait(ctx, washOut)
	first := a.footprint(ctx)
	a.rest(ctx, record.RampBefore, first)
	a.before = a.usage()
	if f := a.goUp(ctx); f != nil {
		return f
	}
	if ctx.Err() != nil {
		return nil
	}
	a.rest(ctx, record.RampRest, a.footprint(ctx))
	a.findDead(ctx)
	f := a.goDown(ctx)
	a.wait(ctx, washOut)
	after := a.footprint(ctx)
	a.step(record.DensityStep{Phase: record.RampAfter, Memory: after.memory})
	return f
}

// goUp starts containers until all run or a limit is hit.
func (a *ramp) goUp(ctx context.Context) *record.Failure {
	for len(a.held) < a.what.Count && ctx.Err() == nil {
		if l := a.guard(); l != nil {
			return a.limit(l, nil)
		}
		if l := a.died(ctx); l != nil {
			return a.limit(l, nil)
		}
		a.r.between()
		n := len(a.held)
		h := &rampHeld{word: newWord()}
		begin := a.now()
		var err error
		if h.Held, err = holdGuarded(ctx, a.holder, a.task(n, h.word)); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return a.limit(a.blame(err), err)
		}
		end := a.now()
		a.held = append(a.held, h)
		if f := a.check(ctx, h); f != nil {
			if n > 0 && over(h) { // the one too many
				return a.limit(a.died(ctx), nil)
			}
			return f
		}
		// The container's own stamps come when it ends; until then ours stand in.
		h.up = a.step(record.DensityStep{Phase: record.RampUp, Events: map[record.Event]int64{record.Request: begin, record.Ready: end}})
		if n = len(a.held); n%a.every == 0 || n == a.what.Count {
			a.steps[h.up].Memory = a.footprint(ctx).memory
		}
	}
	return nil
}

func (a *ramp) task(n int, word string) engine.Task {
	return engine.Task{
		Name:  fmt.Sprintf("plimsoll-%s-%d-%d", a.r.rec.ID, a.seq, n),
		Argv:  probe.PayloadArgs{Word: word, Stay: true, TouchBytes: a.what.TouchBytes}.Argv(probePath),
		Limit: a.r.limit(),
	}
}

// check proves that it is our container, held in the way that was asked for.
func (a *ramp) check(ctx context.Context, h *rampHeld) *record.Failure {
	if why := wrongMode(a.o.rec.ID, a.what, h.Place()); why != "" {
		return &record.Failure{Class: record.Unsupported, Text: why}
	}
	// Only the first byte is promised: the rest of the line may be on its way,
	// and the memory is touched after it, so that a start does not contain that.
	for wait := time.Now(); ; a.wait(ctx, 2*time.Millisecond) {
		stdout, stderr := h.Output()
		said, err := probe.ParsePayload(stdout, h.word)
		if err == nil && (a.what.TouchBytes == 0 || a.o.virtual || said.Touched != 0) {
			return nil
		}
		if err == nil {
			err = errors.New("the payload did not say that it had touched its memory")
		}
		if a.o.virtual || over(h) || ctx.Err() != nil || time.Since(wait) > a.r.limit() {
			return &record.Failure{Class: noProofClass(err), Text: noProofText(err, engine.Result{Stdout: stdout, Stderr: stderr})}
		}
	}
}

// wrongMode says why a container is not held as the workload asks for.
func wrongMode(env string, what workload.Density, place engine.Place) string {
	switch {
	case place.Background && !what.Background:
		return env + " can't hold a container by itself: a process of ours has to stay with each; choose the workload's mode background for it"
	case !place.Background && what.Background:
		return env + " holds its containers by itself, without a process of ours: choose the workload's mode detached for it"
	}
	return ""
}

func noHolder(env string) string {
	return env + " can't hold several containers at once, or its adapter does not do it yet"
}

// limit ends the way up. A ramp that has not begun has failed.
func (a *ramp) limit(l *record.Limit, err error) *record.Failure {
	if len(a.held) == 0 && err != nil {
		f := failureOf(err)
		if l.Class != record.LimitEngine && l.Class != record.LimitTime {
			f.Text += "; " + l.Text
		}
		return f
	}
	if len(a.held) == 0 {
		return &record.Failure{Class: record.Skipped, Text: "not one container was started: " + l.Text}
	}
	a.step(record.DensityStep{Phase: record.RampLimit, Limit: l})
	return nil
}

// died says whether a container that had run has ended by itself.
func (a *ramp) died(ctx context.Context) *record.Limit {
	dead := 0
	for _, h := range a.held {
		if over(h) {
			dead++
		}
	}
	if dead == 0 {
		return nil
	}
	n := len(a.held)
	a.dropDead(ctx)
	l := a.exhausted("")
	text := fmt.Sprintf("%d of %d running containers ended by themselves", dead, n)
	if l == nil {
		return &record.Limit{Class: record.LimitDied, Text: text}
	}
	l.Text = text + "; " + l.Text
	return l
}

// findDead names containers that ended during the rest, unless a limit is
// named already.
func (a *ramp) findDead(ctx context.Context) {
	if l := a.died(ctx); l != nil && !slices.ContainsFunc(a.steps, func(s record.DensityStep) bool { return s.Limit != nil }) {
		a.step(record.DensityStep{Phase: record.RampLimit, Limit: l})
	}
}

func over(h engine.Held) bool {
	select {
	case <-h.Ended():
		return true
	default:
		return false
	}
}

// dropDead removes what has ended by itself.
func (a *ramp) dropDead(ctx context.Context) {
	a.held = slices.DeleteFunc(a.held, func(h *rampHeld) bool {
		if !over(h) {
			return false
		}
		res, err := a.end(ctx, h)
		switch {
		case err != nil:
			a.remark("removing a container that had ended by itself: " + err.Error())
		case res.Failure != nil:
			a.remark("a container ended by itself: " + string(res.Failure.Class) + ", " + res.Failure.Text)
		default:
			a.remark("a container ended by itself")
		}
		return true
	})
}

// goDown ends the containers, the youngest first.
func (a *ramp) goDown(ctx context.Context) *record.Failure {
	a.down = record.Step{Name: "down", At: a.now()}
	var failure *record.Failure
	top := len(a.held)
	for n := top - 1; n >= 0 && ctx.Err() == nil; n-- {
		a.r.between()
		h := a.held[n]
		a.held = a.held[:n]
		begin := a.now()
		res, err := a.end(ctx, h)
		events := a.settleEvents(h, res, begin, a.now())
		f := res.Failure
		if err != nil {
			f = failureOf(err)
		}
		if f != nil && failure == nil {
			failure = &record.Failure{Class: f.Class, Text: fmt.Sprintf("ending container %d of %d: %s", n+1, top, f.Text)}
		}
		i := a.step(record.DensityStep{Phase: record.RampDown, Events: events})
		if n%a.every == 0 {
			a.steps[i].Memory = a.footprint(ctx).memory
		}
	}
	return failure
}

// end bounds the end of one container by twice the trial limit: stop and
// removal.
func (a *ramp) end(ctx context.Context, h *rampHeld) (engine.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*a.r.limit())
	defer cancel()
	return endGuarded(ctx, h, engine.Stop{Grace: stopGrace})
}

// settleEvents puts a container's own stamps into its step on the way up and
// gives those of the way down.
func (a *ramp) settleEvents(h *rampHeld, res engine.Result, begin, end int64) map[record.Event]int64 {
	up, down := map[record.Event]int64{}, map[record.Event]int64{}
	for e, at := range res.Events {
		if slices.Index(record.Events, e) <= slices.Index(record.Events, record.Ready) {
			up[e] = at
		} else {
			down[e] = at
		}
	}
	if said, err := probe.ParsePayload(res.Stdout, h.word); err == nil {
		up[record.First] = said.First
		if said.Done != 0 {
			down[record.Done] = said.Done
		}
	}
	if up[record.Request] != 0 && up[record.Ready] != 0 {
		a.steps[h.up].Events = up
	}
	// Where the adapter stamps no stop, or did not come to the end, ours do.
	if _, ok := down[record.Stop]; !ok && begin != 0 {
		down[record.Stop] = begin
	}
	if _, ok := down[record.Removed]; !ok && end != 0 {
		down[record.Removed] = end
	}
	return down
}

// clear ends whatever still runs, several at once, though the user has
// interrupted.
func (a *ramp) clear(ctx context.Context) {
	if len(a.held) == 0 {
		return
	}
	ctx = context.WithoutCancel(ctx)
	slots, done := make(chan struct{}, 8), make(chan error)
	for _, h := range a.held {
		go func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			_, err := a.end(ctx, h)
			done <- err
		}()
	}
	for range a.held {
		if err := <-done; err != nil {
			a.remark("ending a container: " + err.Error())
		}
	}
	a.held = nil
}

// step adds a step and gives its place.
func (a *ramp) step(s record.DensityStep) int {
	s.N, s.At = len(a.held), a.now()
	a.steps = append(a.steps, s)
	return len(a.steps) - 1
}

func (a *ramp) remark(text string) {
	if len(a.remarks) < 10 && !slices.Contains(a.remarks, text) {
		a.remarks = append(a.remarks, text)
	}
}

// now is our clock; that of a simulated engine is its own, and no stamp of ours
// belongs beside it.
func (a *ramp) now() int64 {
	if a.o.virtual {
		return 0
	}
	return stamp.Now()
}

// wait lets time pass; a simulated engine has none to let pass.
func (a *ramp) wait(ctx context.Context, d time.Duration) {
	if a.o.virtual || d <= 0 {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// fill writes the series. What it comes to is derived by whoever reads it.
func (a *ramp) fill(t *record.Trial) {
	t.Remarks = append(t.Remarks, a.remarks...)
	reached, limit := 0, (*record.Limit)(nil)
	for i := range a.steps {
		switch s := &a.steps[i]; s.Phase {
		case record.RampUp:
			reached = max(reached, s.N)
		case record.RampLimit:
			limit = cmp.Or(limit, s.Limit)
		}
	}
	if reached > 0 {
		a.r.keepSeries(t, record.DensitySamples, func(w io.Writer) error { return record.WriteLines(w, a.steps) })
	}
	if limit != nil {
		t.Remarks = append(t.Remarks, fmt.Sprintf("the ramp ended at %d of %d containers (%s): %s", reached, a.what.Count, limit.Class, limit.Text))
	}
}
