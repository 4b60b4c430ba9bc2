package fake

import (
	"context"
	"fmt"
	"time"

	"plimsoll/internal/engine"
	"plimsoll/internal/probe"
	"plimsoll/internal/record"
)

// small is what a call costs beside the phase that it begins.
const small = 20 * time.Microsecond

// Run is documented in engine.Environment.
func (e *environment) Run(ctx context.Context, task engine.Task) (engine.Result, error) {
	if err := ctx.Err(); err != nil {
		return engine.Result{}, fmt.Errorf("running %s: %w", task.Name, err)
	}
	n := e.trials
	e.trials++
	// Everything is drawn in every trial, so that a failure does not shift
	// the chance of the trials after it.
	times, class := e.model.draw(e.chance, n), e.model.fail(e.chance)
	args, isPayload := parseArgs(task.Argv)

	t := &trial{env: e, clock: e.clock(), task: task, times: times, args: args,
		res: engine.Result{Events: map[record.Event]int64{}}}
	defer t.clock.keep()
	t.begin = t.clock.stamp()
	switch {
	case !isPayload:
		t.mark(record.Request)
		t.fail(record.Unsupported, "the fake engine runs only the payload, not %q", task.Argv)
	case class == record.TimeOut || (args.Stay && task.Stop == nil):
		t.mark(record.Request)
		t.clock.pass(task.Limit)
		t.fail(record.TimeOut, "did not end within %v and was killed (simulated)", task.Limit)
	case class != "" && class != record.Crash && class != record.NoProof:
		t.mark(record.Request)
		t.clock.pass(times[Create] / 2)
		t.fail(class, "the engine said no (simulated)")
	default:
		t.live(class)
	}
	return t.res, nil
}

// trial is one trial under way.
type trial struct {
	env   *environment
	clock clock
	task  engine.Task
	args  probe.PayloadArgs
	times [phases]time.Duration
	begin int64
	res   engine.Result
}

func (t *trial) mark(e record.Event) int64 {
	at := t.clock.stamp()
	t.res.Events[e] = at
	return at
}

func (t *trial) fail(class record.Class, format string, args ...any) {
	t.res.Failure = &record.Failure{Class: class, Text: fmt.Sprintf(format, args...)}
}

// live is a whole life, up to a crash or to the end.
func (t *trial) live(class record.Class) {
	t.mark(record.Request)
	t.clock.pass(t.times[Create])
	t.mark(record.Created)
	t.clock.pass(small)
	t.mark(record.Start)
	// Start returns before the payload is there, as with real engines.
	t.clock.pass(t.times[Boot] * 3 / 5)
	t.mark(record.Started)
	t.clock.pass(t.times[Boot] - t.times[Boot]*3/5)
	first := t.clock.stamp()

	status, done := t.args.Exit, int64(0)
	work, output := t.times[Work], t.times[Output]
	t.clock.pass(min(work, output))
	switch {
	case t.task.Stop != nil:
		t.clock.pass(output - min(work, output))
		t.mark(record.Ready)
		status, done = t.stop()
	case output < work:
		t.mark(record.Ready)
		t.clock.pass(work - output)
		done = t.clock.stamp()
	default:
		done = t.clock.stamp()
		t.clock.pass(output - work)
		t.mark(record.Ready)
	}
	if class == record.Crash {
		status, done = 139, 0
		t.fail(record.Crash, "the payload ended by signal 11 (simulated)")
	}
	t.clock.pass(t.times[End])
	exit := t.mark(record.Exit)
	if t.task.Stop != nil {
		t.clock.pass(small)
		t.mark(record.Stopped)
	}
	t.clock.pass(t.times[Remove])
	t.mark(record.Removed)

	if class == record.NoProof {
		t.res.Stdout = []byte("hello from somebody else\n")
	} else {
		p := probe.Payload{First: first + t.env.offset()}
		if done != 0 {
			p.Done = done + t.env.offset()
		}
		if t.args.Report {
			p.Report = t.env.report()
		}
		t.res.Stdout = answer(p, t.args.Word)
	}
	t.res.Exit = &status
	t.res.Steps = []record.Step{{Name: "simulated end", At: exit}}
	t.res.Client = &record.Usage{UserNS: int64(t.times[Create] / 8), SystemNS: int64(t.times[Create] / 4), MaxRSS: 16 << 20}
}

// stop ends a payload that stays: it gives its exit status, and when it was
// done where it had time to say so.
func (t *trial) stop() (status int, done int64) {
	t.clock.pass(small)
	t.mark(record.Stop)
	if !t.args.Stay {
		return t.args.Exit, t.clock.stamp()
	}
	if t.args.OnTerm == "ignore" {
		t.clock.pass(t.task.Stop.Grace)
		return 137, 0
	}
	t.clock.pass(small)
	return t.args.Exit, t.clock.stamp()
}
