package portable

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// conclude says what came of a command: by its end, of which 125 to 127 are the
// program's own statuses. over is the context's error before anything was cancelled.
func (e *byCommand) conclude(task engine.Task, state *os.ProcessState, res *engine.Result, over, err error, at int64) {
	var exit *exec.ExitError
	switch {
	case errors.Is(over, context.DeadlineExceeded):
		res.Failure = &record.Failure{Class: record.TimeOut, Text: fmt.Sprintf("%s run did not end within %v and was killed", e.p.engine, task.Limit)}
		return
	case err != nil && !errors.As(err, &exit):
		res.Failure = &record.Failure{Class: record.HarnessError, Text: e.p.engine + " run: " + err.Error()}
		return
	}
	res.Client = &record.Usage{UserNS: int64(state.UserTime()), SystemNS: int64(state.SystemTime())}
	status := state.ExitCode()
	if status < 0 || status >= 125 && status <= 127 {
		res.Failure = &record.Failure{Class: record.EngineError, Text: fmt.Sprintf("%s run ended with status %d", e.p.engine, status)}
		return
	}
	res.Exit, res.Events[record.Removed] = &status, at
}

// exec holds a container, executes a program in it by a command, and ends it.
func (e *byCommand) exec(ctx context.Context, task engine.Task, argv []string) (engine.Result, map[string]float64, error) {
	thing := e.thing(engine.KindContainer, task.Name)
	if err := e.ledger.Made(thing); err != nil {
		return engine.Result{}, nil, err
	}
	within, cancel := context.WithTimeout(ctx, task.Limit)
	defer cancel()
	args := e.settings.args(task)
	args = append([]string{"run", "--detach"}, args[2:]...) // and not --rm: it is looked at afterwards
	res := engine.Result{Events: map[record.Event]int64{}}
	if _, err := e.p.ask(within, args...); err != nil {
		res.Failure = engine.FailureOf(err)
	} else {
		res = e.execute(within, task, argv)
	}
	if err := e.p.removeContainer(ctx, task.Name); err != nil {
		if res.Failure == nil {
			res.Failure = &record.Failure{Class: record.UncleanEnd, Text: err.Error()}
		}
		return res, nil, nil
	}
	return res, nil, e.ledger.Gone(thing)
}

// The questions that the removals ask; both programs take Go's templates.
const (
	labelOfContainer = `{{index .Config.Labels "` + engine.Label + `"}}`
	labelOfImage     = labelOfContainer
)

// removeContainer removes a container of the run's by commands.
func (p *program) removeContainer(ctx context.Context, name string) error {
	return p.remove(ctx, "container", name, labelOfContainer, "rm", "--force", "--volumes", name)
}

// removeImage takes a tag of the run's away by commands, unforced.
func (p *program) removeImage(ctx context.Context, tag string) error {
	return p.remove(ctx, "image", tag, labelOfImage, "rmi", tag)
}

// remove does so only where the thing bears the run's label. What is not there is gone.
func (p *program) remove(ctx context.Context, kind, name, label string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeLimit)
	defer cancel()
	owner, err := p.ask(ctx, kind, "inspect", "--format", label, name)
	if err != nil {
		if absent(err) {
			return nil
		}
		return fmt.Errorf("looking for the %s %s: %w", kind, name, err)
	}
	if owner != p.runID || p.runID == "" {
		return nil
	}
	if _, err := p.ask(ctx, args...); err != nil && !absent(err) {
		return fmt.Errorf("removing the %s %s: %w", kind, name, err)
	}
	return nil
}

// absent says whether a program's words mean that there is no such thing.
func absent(err error) bool {
	text := strings.ToLower(err.Error())
	return strings.Contains(text, "no such") || strings.Contains(text, "not known") || strings.Contains(text, "no container with")
}

// execute is the program executed in the container, timed by the command's own life.
func (e *byCommand) execute(ctx context.Context, task engine.Task, argv []string) engine.Result {
	inner := engine.Task{Name: task.Name, Limit: task.Limit}
	res := engine.Result{Events: map[record.Event]int64{}}
	cmd := e.p.start(ctx, append([]string{"exec", task.Name}, argv...)...)
	stdout, stderr := stamp.NewStream(0), stamp.NewStream(0)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	restore := stamp.Quiet()
	res.Events[record.Exec] = stamp.Now()
	err := cmd.Run()
	at := stamp.Now()
	restore()
	e.conclude(inner, cmd.ProcessState, &res, ctx.Err(), err, at)
	delete(res.Events, record.Removed) // the container's own
	if res.Failure == nil {
		res.Events[record.Exit] = at
	}
	res.Stdout, res.Stderr = stdout.Kept(), stderr.Kept()
	if first := stdout.First(); first != 0 {
		res.Events[record.Ready] = first
	}
	return res
}
