package clirun

import (
	"context"
	"slices"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// againPoll is how long an engine that was not ready for a command is left
// alone before the command is tried again: it has no event for that.
const againPoll = 20 * time.Millisecond

// insist asks the last step again for as long as the engine was not ready for
// it. The step's time is from the first attempt to the end of the last one,
// with the processor time of all. What is still refused at until has timed out.
func (p *Plan) insist(ctx context.Context, l runner, job *probe.JobResult, until time.Time) error {
	last := len(p.Steps) - 1
	again := p.Steps[last].Again
	for again != nil && !job.TimedOut && last < len(job.Commands) && again(job.Commands[last]) {
		if !engine.Pause(ctx, againPoll) {
			return ctx.Err()
		}
		left := time.Until(until)
		if left <= 0 {
			job.TimedOut = true
			break
		}
		cmd := p.Steps[last].Cmd
		cmd.Await, cmd.Mute = probe.AwaitPrevious, last != p.Payload
		more, err := l.Run(ctx, probe.Job{Commands: []probe.Command{cmd}, Limit: left, OutputLimit: p.Task.OutputLimit})
		if err != nil {
			return err
		}
		before, now := job.Commands[last], more.Commands[0]
		now.Spawn, now.Usage = before.Spawn, *addUsage(&before.Usage, now.Usage)
		now.Steps = append(slices.Clone(before.Steps), record.Step{Name: "asked-again", At: before.Exit})
		job.Commands[last], job.TimedOut = now, more.TimedOut
	}
	return nil
}
