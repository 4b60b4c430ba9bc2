package fake

import (
	"context"
	"fmt"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// small is what a call costs beside the phase that it begins.
const small = 20 * time.Microsecond

func (e *environment) Run(ctx context.Context, task engine.Task) (engine.Result, error) {
	if err := ctx.Err(); err != nil {
		return engine.Result{}, fmt.Errorf("running %s: %w", task.Name, err)
	}
	t := e.trial(task)
	defer t.clock.keep()
	switch {
	case t.refuse():
	case t.stays() && task.Stop == nil:
		t.mark(record.Request)
		t.clock.pass(task.Limit)
		t.fail(record.TimeOut, "did not end within %v and was killed (simulated)", task.Limit)
	default:
		t.live()
	}
	e.been()
	return t.res, nil
}

// trial is one trial under way.
type trial struct {
	env     *environment
	clock   clock
	task    engine.Task
	what    program
	times   [phases]time.Duration
	removal time.Duration // times[Remove] without anybody else
	class   record.Class  // how it is to fail; "" is not at all
	out     []byte        // what the payload has printed so far
	res     engine.Result
}

// trial draws a trial's course. Everything is drawn in every trial, so that a
// failure does not shift the chance of the trials after it.
func (e *environment) trial(task engine.Task) *trial {
	e.mu.Lock()
	n := e.trials
	e.trials++
	times, class := e.model.draw(e.chance, n), e.model.fail(e.chance)
	e.mu.Unlock()
	removal, crowd := times[Remove], e.crowd(0)
	times[Create] += crowd
	times[Remove] += crowd
	return &trial{env: e, removal: removal, clock: e.clock(), task: task, times: times, class: class, what: parse(task.Argv),
		res: engine.Result{Events: map[record.Event]int64{}}}
}

// crowd is what the containers that are held, and so many more, cost another.
func (e *environment) crowd(more int) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return time.Duration(e.running+more) * e.model.Crowd
}

// been counts a container that is over.
func (e *environment) been() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ever++
}

func (t *trial) mark(e record.Event) int64 {
	at := t.clock.stamp()
	t.res.Events[e] = at
	return at
}

func (t *trial) fail(class record.Class, format string, args ...any) {
	t.res.Failure = &record.Failure{Class: class, Text: fmt.Sprintf(format, args...)}
}

// stays says whether the payload ends only when it is told to.
func (t *trial) stays() bool { return t.what.stays() }

// refuse fails a trial that does not come to a payload, and says whether it
// was one.
func (t *trial) refuse() bool {
	switch {
	case t.what == nil:
		t.mark(record.Request)
		t.fail(record.Unsupported, "the fake engine runs only the payload and tasks, not %q", t.task.Argv)
	case t.besideGone():
		t.mark(record.Request)
		t.fail(record.EngineError, "the container to share namespaces with does not run (simulated)")
	case t.class == record.TimeOut:
		t.mark(record.Request)
		t.clock.pass(t.task.Limit)
		t.fail(record.TimeOut, "did not end within %v and was killed (simulated)", t.task.Limit)
	case t.class != "" && t.class != record.Crash && t.class != record.NoProof:
		t.mark(record.Request)
		t.clock.pass(t.times[Create] / 2)
		t.fail(t.class, "the engine said no (simulated)")
		if t.env.model.Hostile {
			t.res.Failure.Text += ": " + string(hostileOutput(1<<20)) // an engine's own words have no bound
		}
	default:
		return false
	}
	return true
}

func (t *trial) besideGone() bool {
	if t.task.Beside == nil {
		return false
	}
	select {
	case <-t.task.Beside.Ended():
		return true
	default:
		return false
	}
}

// create goes from the request to the payload's first instruction, and gives
// that one's time by our clock.
func (t *trial) create() (first int64) {
	t.mark(record.Request)
	if t.env.model.Serial {
		t.env.serial.Lock()
		defer t.env.serial.Unlock()
	}
	t.clock.pass(t.times[Create])
	t.mark(record.Created)
	t.clock.pass(small)
	t.mark(record.Start)
	// Start returns before the payload is there, as with real engines.
	t.clock.pass(t.times[Boot] * 3 / 5)
	t.mark(record.Started)
	t.clock.pass(t.times[Boot] - t.times[Boot]*3/5)
	return t.clock.stamp()
}

// live is a whole life, up to a crash or to the end.
func (t *trial) live() {
	first := t.create()
	t.say(t.what.begin(t, first))
	work, output := t.what.lasts(t.times[Work]), t.times[Output]
	status, done := t.what.status(), int64(0)
	if t.task.Stop != nil {
		t.clock.pass(output)
		t.mark(record.Ready)
		status, done = t.stop(*t.task.Stop)
	} else {
		done = t.work(work, output)
	}
	t.end(status, done)
}

// work passes the time until the payload is done; its output comes to us
// meanwhile, or after it.
func (t *trial) work(work, output time.Duration) (done int64) {
	t.clock.pass(min(work, output))
	if output < work {
		t.mark(record.Ready)
		t.clock.pass(work - output)
		return t.clock.stamp()
	}
	done = t.clock.stamp()
	t.clock.pass(output - work)
	t.mark(record.Ready)
	return done
}

// end goes from the payload's last stamp to the removal. done is 0 where it
// did not come to that.
func (t *trial) end(status int, done int64) {
	if t.class == record.Crash {
		status, done = 139, 0
		t.fail(record.Crash, "the payload ended by signal 11 (simulated)")
	}
	t.clock.pass(t.times[End])
	exit := t.mark(record.Exit)
	if t.res.Events[record.Stop] != 0 {
		t.clock.pass(small)
		t.mark(record.Stopped)
	}
	t.clock.pass(t.times[Remove])
	t.mark(record.Removed)
	if done != 0 {
		t.say(t.what.finish(t, done))
	}
	t.res.Stdout = t.out
	if t.class == record.NoProof {
		t.res.Stdout = []byte("hello from somebody else\n")
	}
	if t.env.model.Hostile {
		t.res.Stdout, t.res.Stderr = hostileOutput(t.task.OutputLimit), hostileOutput(t.task.OutputLimit)
	}
	t.res.Exit = &status
	t.res.Steps = []record.Step{{Name: "simulated end", At: exit}}
	t.res.Client = &record.Usage{UserNS: int64(t.times[Create] / 8), SystemNS: int64(t.times[Create] / 4), MaxRSS: 16 << 20}
}

func (t *trial) say(out []byte) { t.out = append(t.out, out...) }

// inside turns a time of our clock into the payload's.
func (t *trial) inside(at int64) int64 { return at + t.env.offset() }

// stop ends a payload that stays: it gives its exit status, and when it was
// done where it had time to say so.
func (t *trial) stop(s engine.Stop) (status int, done int64) {
	t.clock.pass(small)
	t.mark(record.Stop)
	if !t.stays() {
		return t.what.status(), t.clock.stamp()
	}
	if t.what.ignores() {
		t.clock.pass(s.Grace)
		return 137, 0
	}
	t.clock.pass(small)
	return t.what.status(), t.clock.stamp()
}
