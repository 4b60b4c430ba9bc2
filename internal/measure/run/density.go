package run

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/stamp"
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

// densityRamp is a ramp of containers that stay. However it ends, nothing of it is left.
type densityRamp struct {
	*site
	what workload.Density
}

func (d densityRamp) watched(bool) bool { return false }

func (d densityRamp) trial(ctx context.Context, p study.Trial, o *openEnv) (*record.Trial, engine.Result, error) {
	t := begun(p, o)
	holder, ok := o.env.(engine.Holder)
	if !ok {
		d.refuse(t, noHolder(o.rec.ID))
		return t, engine.Result{}, nil
	}
	if err := d.settle(ctx, o, t); err != nil || !t.OK() {
		return unsettled(t, err)
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(heapWhole))
	a := &ramp{site: d.site, o: o, what: d.what, seq: p.Seq, holder: holder, every: max(1, d.what.Count/snapshots)}
	var failure *record.Failure
	d.observe(o, t, func() {
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

// ramp is a density trial under way.
type ramp struct {
	site   *site
	o      *openEnv
	what   workload.Density
	seq    int
	holder engine.Holder
	every  int // containers between two snapshots

	held    []*rampHeld
	steps   []record.DensityStep
	samples []record.DensityStep // of the machine's memory, between and in the steps
	remarks []string
	before  usage // of the machine's limits
}

// rampHeld is one container of a ramp.
type rampHeld struct {
	engine.Held
	name string
	word string
	up   int // the place of its step
}

// run goes up, rests, and comes down. A limit that was hit on the way is a
// step of the series; a failure is for a ramp that never began or did not end
// cleanly.
func (a *ramp) run(ctx context.Context) *record.Failure {
	a.wait(ctx, washOut)
	defer a.sample()()
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
	a.tell(ctx)
	a.findDead(ctx)
	f := a.goDown(ctx)
	a.wait(ctx, washOut)
	after := a.footprint(ctx)
	a.step(record.DensityStep{Phase: record.RampAfter, Memory: after.memory})
	return f
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
	engine.Pause(ctx, d)
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
		a.site.keepSeries(t, record.DensitySamples, func(w io.Writer) error { return record.WriteLines(w, a.inOrder()) })
	}
	if limit != nil {
		t.Remarks = append(t.Remarks, fmt.Sprintf("the ramp ended at %d of %d containers (%s): %s", reached, a.what.Count, limit.Class, limit.Text))
	}
}
