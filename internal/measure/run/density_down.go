package run

import (
	"context"
	"fmt"
	"slices"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// goDown ends the containers, the youngest first.
func (a *ramp) goDown(ctx context.Context) *record.Failure {
	var failure *record.Failure
	top := len(a.held)
	for n := top - 1; n >= 0 && ctx.Err() == nil; n-- {
		a.site.between()
		h := a.held[n]
		a.held = a.held[:n]
		begin := a.now()
		res, err := a.end(ctx, h)
		events := a.settleEvents(h, res, begin, a.now())
		f := res.Failure
		if err != nil {
			f = engine.FailureOf(err)
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
	ctx, cancel := context.WithTimeout(ctx, 2*a.site.limit())
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
