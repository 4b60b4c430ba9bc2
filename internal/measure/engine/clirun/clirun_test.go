package clirun

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// said is a launcher that has one answer.
type said struct {
	res *probe.JobResult
	err error
	job probe.Job
}

func (s *said) Run(_ context.Context, job probe.Job) (*probe.JobResult, error) {
	s.job = job
	return s.res, s.err
}

func exited(n int) int { return n << 8 }

var task = engine.Task{Name: "t", Limit: 2 * time.Second}

// attached is `engine run`, detached is create, start, delete.
func attached(job probe.JobResult) (Plan, *probe.JobResult) {
	return Plan{Task: task, Steps: []Step{{
		Cmd: probe.Command{Argv: []string{"/usr/bin/engine", "run", "x"}}, Begin: record.Request, End: record.Removed}}}, &job
}

func detached(job probe.JobResult) (Plan, *probe.JobResult) {
	return Plan{Task: task, Steps: []Step{
		{Cmd: probe.Command{Argv: []string{"/e", "create"}, PidFile: "/p"}, Begin: record.Request, End: record.Created},
		{Cmd: probe.Command{Argv: []string{"/e", "start"}}, Begin: record.Start, End: record.Started},
		{Cmd: probe.Command{Argv: []string{"/e", "delete"}, Await: probe.AwaitContainerExit}, End: record.Removed},
	}}, &job
}

func TestEventsOfDetachedLife(t *testing.T) {
	p, job := detached(probe.JobResult{ContainerExit: 60, ContainerReaped: true, ContainerStatus: exited(7),
		Commands: []probe.CommandResult{
			{Spawn: 10, Exit: 20, First: 45, Stdout: []byte("hi"), Usage: record.Usage{UserNS: 1, MaxRSS: 5}},
			{Spawn: 30, Exit: 40, Usage: record.Usage{UserNS: 2, SystemNS: 3, MaxRSS: 9}},
			{Spawn: 70, Exit: 80},
		}})
	l := &said{res: job}
	res, err := run(t.Context(), l, p)
	if err != nil || res.Failure != nil {
		t.Fatal(err, res.Failure)
	}
	want := map[record.Event]int64{record.Request: 10, record.Created: 20, record.Start: 30, record.Started: 40,
		record.Ready: 45, record.Exit: 60, record.Removed: 80}
	for e, at := range want {
		if res.Events[e] != at {
			t.Errorf("%s is %d, want %d", e, res.Events[e], at)
		}
	}
	if len(res.Events) != len(want) {
		t.Errorf("events %v, want %v", res.Events, want)
	}
	if res.Exit == nil || *res.Exit != 7 {
		t.Errorf("exit %v, want 7", res.Exit)
	}
	if *res.Client != (record.Usage{UserNS: 3, SystemNS: 3, MaxRSS: 9}) {
		t.Errorf("usage %+v", *res.Client)
	}
	for i, c := range l.job.Commands {
		if c.Mute != (i != 0) {
			t.Errorf("command %d: Mute is %v", i, c.Mute)
		}
	}
}

func TestExitAndRemovedOfOneCall(t *testing.T) {
	p, job := attached(probe.JobResult{Commands: []probe.CommandResult{{Spawn: 10, First: 15, Exit: 20, Stdout: []byte("x")}}})
	res := p.Result(job)
	if res.Events[record.Exit] != 20 || res.Events[record.Removed] != 20 {
		t.Errorf("events %v: one call ends and removes, so both bear its stamp", res.Events)
	}
}

// A stop by signals has returned when the container has ended.
func TestStoppedBySignal(t *testing.T) {
	p, job := attached(probe.JobResult{Commands: []probe.CommandResult{
		{Spawn: 10, First: 15, Exit: 40, Stdout: []byte("x"), Status: int(syscall.SIGKILL)}, {Spawn: 20}, {Skipped: true}}})
	p.Task.Stop = &engine.Stop{Grace: time.Second}
	p.Steps = append(p.Steps, Step{Cmd: probe.Command{Signal: 15}, Begin: record.Stop},
		Step{Cmd: probe.Command{Signal: 9, Await: probe.AwaitGrace}, MayFail: true, Begin: "never"})
	res := p.Result(job)
	if res.Failure != nil || res.Events[record.Stopped] != 40 || res.Events["never"] != 0 {
		t.Errorf("failure %+v, events %v", res.Failure, res.Events)
	}
	if res.Exit == nil || *res.Exit != 137 {
		t.Errorf("exit %v, want 137", res.Exit)
	}
}

func TestFailures(t *testing.T) {
	yes := func() bool { return true }
	one := func(c probe.CommandResult) probe.JobResult {
		return probe.JobResult{Commands: []probe.CommandResult{c}}
	}
	killed := int(syscall.SIGKILL)
	for name, c := range map[string]struct {
		job    probe.JobResult
		change func(*Plan)
		want   record.Class // "" is none
		text   string
	}{
		"the payload's own status": {job: one(probe.CommandResult{Exit: 1, Status: exited(7), Stdout: []byte("x")})},
		"own status, silent":       {job: one(probe.CommandResult{Exit: 1, Status: exited(1)})},
		"the engine's status": {job: one(probe.CommandResult{Exit: 1, Status: exited(125), Stderr: []byte("level=error msg=\"no space\"\n")}),
			want: record.EngineError, text: "engine run: status 125: no space"},
		"quick and failing": {job: one(probe.CommandResult{Spawn: 1, Exit: 2, Status: exited(1),
			Stderr: []byte("cgroups in hybrid mode not supported, drop all controllers from cgroupv2\n")}), want: record.Unsupported},
		"image missing": {job: one(probe.CommandResult{Exit: 1, Status: exited(125), Stderr: []byte("Error: x: image not known\n")}),
			want: record.Unavailable},
		"not found":            {job: one(probe.CommandResult{Errno: int(syscall.ENOENT), Where: "exec"}), want: record.Unavailable},
		"chroot":               {job: one(probe.CommandResult{Errno: int(syscall.EPERM), Where: "chroot"}), want: record.EngineError, text: "chroot: operation not permitted"},
		"time-out":             {job: probe.JobResult{TimedOut: true, Commands: []probe.CommandResult{{Status: killed}}}, want: record.TimeOut, text: "2s"},
		"crash":                {job: one(probe.CommandResult{Exit: 1, Status: int(syscall.SIGSEGV), Stdout: []byte("x")}), want: record.Crash, text: "signal 11"},
		"crash told by status": {job: one(probe.CommandResult{Exit: 1, Status: exited(139)}), want: record.Crash},
		"killed":               {job: one(probe.CommandResult{Exit: 1, Status: killed, Stdout: []byte("x")}), want: record.Crash},
		"out of memory": {job: one(probe.CommandResult{Exit: 1, Status: killed, Stdout: []byte("x")}),
			change: func(p *Plan) { p.OOM = yes }, want: record.OutOfMemory},
		"stopped": {job: one(probe.CommandResult{Exit: 1, Status: killed, Stdout: []byte("x")}),
			change: func(p *Plan) { p.Task.Stop = &engine.Stop{} }},
		"engine's status by rule": {job: one(probe.CommandResult{Exit: 1, Status: exited(255)}),
			change: func(p *Plan) { p.EngineStatus = func(n int) bool { return n == 255 } }, want: record.EngineError},
		"own pattern": {job: one(probe.CommandResult{Exit: 1, Status: exited(1), Stderr: []byte("FATAL: no such SIF\n")}),
			change: func(p *Plan) { p.Patterns = []adapter.Pattern{{Text: "no such sif", Class: record.Unavailable}} }, want: record.Unavailable},
		"baseline": {job: one(probe.CommandResult{Exit: 1, Status: exited(1), Stderr: []byte("I am the payload\n")}),
			change: func(p *Plan) { p.NoClient = true }},
	} {
		p, job := attached(c.job)
		if c.change != nil {
			c.change(&p)
		}
		f := p.Result(job).Failure
		switch {
		case f == nil && c.want == "":
		case f == nil || f.Class != c.want || !strings.Contains(f.Text, c.text):
			t.Errorf("%s: failure %+v, want class %q with %q", name, f, c.want, c.text)
		}
	}
}

func TestFailingStepOfDetachedLife(t *testing.T) {
	p, job := detached(probe.JobResult{ContainerExit: 5, Commands: []probe.CommandResult{
		{Exit: 1, Status: exited(1), Stderr: []byte("time=\"x\" level=error msg=\"container_linux.go: starting: exec \\\"/x\\\": no such file\"\n")},
		{Skipped: true}, {Skipped: true}}})
	res := p.Result(job)
	if f := res.Failure; f == nil || f.Class != record.EngineError || !strings.Contains(f.Text, `e create: status 1: container_linux.go: starting: exec "/x"`) {
		t.Errorf("failure %+v", f)
	}
	if _, ok := res.Events[record.Start]; ok {
		t.Error("a skipped step has left an event")
	}
}

// A trial in which nothing failed but something was left out is no success.
func TestSkippedStep(t *testing.T) {
	p, job := detached(probe.JobResult{ContainerExit: 5, Commands: []probe.CommandResult{
		{Exit: 1, Stdout: []byte("x")}, {Exit: 2}, {Skipped: true}}})
	if f := p.Result(job).Failure; f == nil || f.Class != record.HarnessError {
		t.Errorf("failure %+v, want class %s", f, record.HarnessError)
	}
	p.Steps[2].Cmd.Await = probe.AwaitReady
	if f := p.Result(job).Failure; f == nil || f.Class != record.NoProof {
		t.Errorf("failure %+v, want class %s", f, record.NoProof)
	}
}

func TestLauncherError(t *testing.T) {
	p, _ := attached(probe.JobResult{})
	want := errors.New("gone")
	if _, err := run(t.Context(), &said{err: want}, p); !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
}
