package clirun

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/probe"
)

// gentle runs the jobs of a plan with Gentle: at the limit, and when ctx ends,
// its command is told to end before everything is killed.
type gentle struct {
	l *probe.Launcher
	p *Plan
}

func (g gentle) Run(ctx context.Context, job probe.Job) (*probe.JobResult, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	hard, kill := context.WithCancel(context.WithoutCancel(ctx))
	defer kill()
	limit := job.Limit
	job.Limit += g.p.patience() // the launcher's own limit is the last resort
	over, struck := make(chan struct{}), make(chan bool, 1)
	go func() {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		select {
		case <-over:
			struck <- false
			return
		case <-ctx.Done():
		case <-timer.C:
		}
		g.p.endGently(g.l.PID(), over)
		if ctx.Err() != nil {
			kill()
		}
		struck <- true
	}()
	res, err := g.l.Run(hard, job)
	close(over)
	switch late := <-struck; {
	case late && ctx.Err() != nil:
		return nil, ctx.Err()
	case late && err == nil:
		res.TimedOut = true
	}
	return res, err
}

// patience is what the gentle end may take in all.
func (p *Plan) patience() time.Duration { return 2 * p.Gentle }

// endGently tells the command to end, which hands that on and clears away; and
// then kills the payload alone, which may have ignored it: that the command
// sees, too. It returns when the job is over or both were in vain.
func (p *Plan) endGently(launcher int, over <-chan struct{}) {
	for _, tell := range []func(){
		func() { adapter.SignalChildren(launcher, unix.SIGTERM) },
		func() {
			pid := adapter.FindProcess(p.Task.Argv)
			adapter.SignalProcess(pid, unix.SIGKILL, func() bool { return adapter.FindProcess(p.Task.Argv) == pid })
		},
	} {
		select {
		case <-over:
			return
		default:
			tell()
		}
		wait := time.NewTimer(p.Gentle)
		select {
		case <-over:
			wait.Stop()
			return
		case <-wait.C:
		}
	}
}

// untilGentle is ctx for the launcher, which kills everything at its end; a
// plan with Gentle has that before.
func (h *Held) untilGentle(ctx context.Context) (context.Context, func()) {
	if h.how.Plan.Gentle == 0 {
		return ctx, func() {}
	}
	hard, kill := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		h.how.Plan.endGently(h.launcher.PID(), h.job.Over())
		kill()
	})
	return hard, func() { stop(); kill() }
}
