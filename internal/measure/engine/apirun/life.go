package apirun

import (
	"context"
	"errors"
	"io"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// Life is what every life has; an adapter's own embeds it.
type Life struct {
	Task           engine.Task
	Res            engine.Result
	Stdout, Stderr *stamp.Stream
	// Drain tells of the end of the output; nil where it has none that anybody
	// tells of (a log file).
	Drain *Drain
	// End tells of the process's end.
	End *End
	// Late is for how long the output may be behind the end, where there is no
	// Drain.
	Late time.Duration

	conn    io.Closer // of Frames
	hostOOM func() bool
	phase   string // what is being done, for messages
	limit   time.Duration
	begun   bool // there may be a container
	holding bool // what is waited for is the first byte, and not the end
	stopped bool
}

// NewLife begins with nothing.
func NewLife(task engine.Task) Life {
	return Life{Task: task, Stdout: stamp.NewStream(task.OutputLimit), Stderr: stamp.NewStream(task.OutputLimit),
		Res: engine.Result{Events: make(map[record.Event]int64, 16)}, limit: task.Limit,
		hostOOM: cgroup.HostOOMWatch()}
}

func (l *Life) life() *Life { return l }

// Phase says what is being done, for messages.
func (l *Life) Phase(what string) { l.phase = what }

// Step notes a step of the life's.
func (l *Life) Step(name string, at int64) {
	l.Res.Steps = append(l.Res.Steps, record.Step{Name: name, At: at})
}

// Holding says whether the container is to be held: its end need not be told to
// the millisecond, and it is to be left in peace.
func (l *Life) Holding() bool { return l.holding }

// Stopped says whether the container was asked to stop.
func (l *Life) Stopped() bool { return l.stopped }

// Await waits until the engine has reported the end and all output has arrived.
// The two come by separate ways, in any order; what was printed was printed
// before the end.
func (l *Life) Await(ctx context.Context) error {
	select {
	case <-l.End.Told:
	case <-ctx.Done():
		return ctx.Err()
	}
	if l.End.Err != nil || l.Drain == nil {
		return l.End.Err
	}
	select {
	case <-l.Drain.Done:
		return l.Drain.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ended notes the end that was awaited.
func (l *Life) ended() {
	at := l.End.At
	if l.Drain != nil {
		l.Step("waited", at)
		at = max(at, l.Drain.At)
	}
	l.Res.Events[record.Exit], l.Res.Exit = at, &l.End.Status
}

func (*Life) OOM(context.Context) bool { return false }

func (l *Life) Release(context.Context) *record.Failure {
	if l.conn != nil {
		_ = l.conn.Close() // it has said all
	}
	return nil
}

// live is the measured path of a trial.
func live(ctx context.Context, c Container) error {
	l := c.life()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends what is still waited for
	l.begun = true
	if err := c.Up(ctx, ctx); err != nil {
		return err
	}
	if l.Task.Stop != nil {
		if err := ready(ctx, c); err != nil {
			return err
		}
		if err := stop(ctx, c, *l.Task.Stop); err != nil {
			return err
		}
	}
	return finish(ctx, c)
}

var errNotReady = errors.New("the payload ended before its first byte")

// ready waits for the payload's first byte.
func ready(ctx context.Context, c Container) error {
	l := c.life()
	l.phase = "waiting for the payload's first byte"
	select {
	case <-l.Stdout.Ready():
		return nil
	case <-l.End.Told:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := c.Await(ctx); err != nil {
		return err
	}
	late := time.NewTimer(l.Late)
	defer late.Stop()
	select {
	case <-l.Stdout.Ready():
		return nil
	case <-late.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	if l.Stdout.First() != 0 { // at the same moment
		return nil
	}
	l.Res.Exit = &l.End.Status
	return errNotReady
}

// stop asks the engine to stop the container.
func stop(ctx context.Context, c Container, s engine.Stop) error {
	l := c.life()
	l.phase, l.stopped = "stopping the container", true
	l.Res.Events[record.Stop] = stamp.Now()
	err := c.Stop(ctx, s)
	at := stamp.Now()
	if err == nil && l.Res.Events[record.Stopped] == 0 {
		l.Res.Events[record.Stopped] = at
	}
	return err
}

// finish waits for the container's end and removes it.
func finish(ctx context.Context, c Container) error {
	l := c.life()
	l.phase = "waiting for the container's end"
	if err := c.Await(ctx); err != nil {
		return err
	}
	l.ended()
	l.phase = "removing the container"
	err := c.Down(ctx)
	at := stamp.Now()
	if err == nil && l.Res.Events[record.Removed] == 0 {
		l.Res.Events[record.Removed] = at
	}
	return err
}
