package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// goUp starts containers until all run or a limit is hit.
func (a *ramp) goUp(ctx context.Context) *record.Failure {
	for len(a.held) < a.what.Count && ctx.Err() == nil {
		if l := a.guard(); l != nil {
			return a.limit(l, nil)
		}
		if l := a.died(ctx); l != nil {
			return a.limit(l, nil)
		}
		a.site.between()
		n := len(a.held)
		h := &rampHeld{word: newWord()}
		begin := a.now()
		task := a.task(n, h.word)
		h.name = task.Name
		var err error
		if h.Held, err = holdGuarded(ctx, a.holder, task); err != nil {
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
		Name:  member(fmt.Sprintf("plimsoll-%s-%d", a.site.rec.ID, a.seq), n),
		Argv:  probe.PayloadArgs{Word: word, Stay: true, TouchBytes: a.what.TouchBytes}.Argv(probePath),
		Limit: a.site.limit(), Checked: a.site.cold(),
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
		if a.o.virtual || over(h) || ctx.Err() != nil || time.Since(wait) > a.site.limit() {
			return noProof(err, engine.Result{Stdout: stdout, Stderr: stderr})
		}
	}
}

// wrongMode says why a container is not held as the workload asks for.
func wrongMode(env string, what workload.Density, place engine.Place) string {
	switch {
	case place.Background && !what.Background:
		return env + " can't hold a container by itself: a Plimsoll process has to stay with each; choose the workload's mode background for it"
	case !place.Background && what.Background:
		return env + " holds its containers by itself, without a Plimsoll process: choose the workload's mode detached for it"
	}
	return ""
}

func noHolder(env string) string {
	return env + " can't hold several containers at once, or its adapter does not do it yet"
}

// limit ends the way up. A ramp that has not begun has failed.
func (a *ramp) limit(l *record.Limit, err error) *record.Failure {
	if len(a.held) == 0 && err != nil {
		f := engine.FailureOf(err)
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
