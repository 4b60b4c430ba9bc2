package enginetest

import (
	"context"
	"strings"
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// commandEvents are what a life by commands has, in this order.
var commandEvents = []record.Event{record.Request, record.Created, record.Start, record.Started, record.Exec, record.Ready, record.Exit, record.Removed}

// commands: a container that is made, started and worked in by commands of
// their own; its shell's end, a program's failure, what follows it and the limit
// leave nothing.
func (s *suite) commands(t *testing.T) {
	if _, ok := s.env.(engine.Commander); !ok {
		t.Skip("the engine has no commands for create, start and exec")
	}
	env := s.busybox(t)
	run := func(task engine.Task) engine.Result {
		t.Helper()
		res, err := env.(engine.Commander).Commands(t.Context(), task)
		if err != nil {
			t.Fatalf("Commands: %v", err)
		}
		return res
	}
	task := s.tool("/bin/echo", "Hello World", "and more")
	res := run(task)
	if f := res.Failure; f != nil && f.Class == record.Unsupported {
		t.Skip(f.Text)
	}
	if res.Failure != nil || string(res.Stdout) != "Hello World and more\n" || res.Exit == nil || *res.Exit != 0 {
		t.Fatalf("failure %+v, stdout %q, exit %v", res.Failure, res.Stdout, show(res.Exit))
	}
	stamped(t, res, commandEvents...)
	ordered(t, res.Events, commandEvents...)

	task = s.tool("/bin/sh", "-c", "echo $PLIMSOLL_TEST; exit 3")
	task.Env = []string{"PLIMSOLL_TEST=inside"}
	if res = run(task); res.Failure != nil || strings.TrimSpace(string(res.Stdout)) != "inside" || res.Exit == nil || *res.Exit != 3 {
		t.Errorf("a program's own status: failure %+v, stdout %q, exit %v", res.Failure, res.Stdout, show(res.Exit))
	}
	called := 0
	task = s.tool("/bin/echo", "first")
	task.Then = func(context.Context) { called++ }
	if res = run(task); res.Failure != nil || called != 1 || res.Events[record.Exit] == 0 || res.Events[record.Removed] != 0 {
		t.Errorf("what follows exec was called %d times: failure %+v, events %v", called, res.Failure, res.Events)
	}
	task = s.tool("/no-such-program")
	task.Then = func(context.Context) { called++ }
	if run(task); called != 1 {
		t.Error("what follows exec was called though nothing had run")
	}
	task = s.tool("/bin/sleep", "600")
	task.Limit = s.opts.Hang
	if res = run(task); res.Failure == nil || res.Failure.Class != record.TimeOut {
		t.Errorf("a program that hangs: failure %+v, want class %s", res.Failure, record.TimeOut)
	}
}
