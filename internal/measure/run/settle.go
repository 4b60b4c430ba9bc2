package run

import (
	"context"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host"
	"plimsoll/internal/record"
)

// settleFor is how long the host must have been calm before a trial. It is
// short: what the kernel remembers of the trial before is part of starting
// containers one after another, and random order shares it out. Whoever wants
// each start to be a lone one names a pause of 25 ms in the study: see
// docs/decisions/baselines.md for what that changes.
const settleFor = time.Millisecond

// settle brings the machine into the state in which a trial may start; where
// it can't, the trial has failed and is not begun. The error is the context's.
func (s *site) settle(ctx context.Context, o *openEnv, t *record.Trial) error {
	s.between() // before the wait: what that saw calm is to be so when the trial begins
	if o.virtual {
		return ctx.Err()
	}
	if p := s.rec.Protocol.PauseNS; p > 0 {
		if !engine.Pause(ctx, time.Duration(p)) {
			return ctx.Err()
		}
	}
	if s.cold() {
		if f := s.cool(ctx, o.env); f != nil {
			t.At, t.Failure = time.Now(), f
			return ctx.Err()
		}
	}
	c := s.quiet(ctx)
	t.Quiet = int64(c.Waited)
	if c.Seen() {
		t.Running = &c.Running
	}
	if !c.Reached {
		t.Remarks = append(t.Remarks, record.NotQuiet)
	}
	return ctx.Err()
}

// unsettled gives a trial that settle did not let begin.
func unsettled(t *record.Trial, err error) (*record.Trial, engine.Result, error) {
	if err != nil {
		t = nil
	}
	return t, engine.Result{}, err
}

// quiet waits until the host is calm, as long as patience has it: a busy host is
// a remark on the trial, not a run that never ends.
func (s *site) quiet(ctx context.Context) host.Calm {
	c := s.calm.Wait(ctx, s.patience.ask(s.calmFor))
	s.patience.waited(c.Waited, c.Reached)
	return c
}
