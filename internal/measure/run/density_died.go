package run

import (
	"context"
	"fmt"
	"slices"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

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
			a.remark("removing a container that ended by itself: " + err.Error())
		case res.Failure != nil:
			a.remark("a container ended by itself: " + string(res.Failure.Class) + ", " + res.Failure.Text)
		default:
			a.remark("a container ended by itself")
		}
		return true
	})
}
