package clirun

import (
	"context"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// each is a launcher with an answer for each job; the last one stays.
type each struct {
	answers []*probe.JobResult
	jobs    []probe.Job
}

func (e *each) Run(_ context.Context, job probe.Job) (*probe.JobResult, error) {
	e.jobs = append(e.jobs, job)
	return e.answers[min(len(e.jobs), len(e.answers))-1], nil
}

func ofBusy(c probe.CommandResult) bool { return strings.Contains(string(c.Stderr), "busy") }

func TestAskedAgain(t *testing.T) {
	busy := probe.CommandResult{Spawn: 70, Exit: 80, Status: exited(1), Stderr: []byte("busy"), Usage: record.Usage{UserNS: 1, MaxRSS: 4}}
	p, first := detached(probe.JobResult{ContainerExit: 60, ContainerReaped: true, Commands: []probe.CommandResult{
		{Spawn: 10, Exit: 20, First: 45, Stdout: []byte("hi")}, {Spawn: 30, Exit: 40}, busy}})
	p.Steps[2].Again = ofBusy
	later := busy
	later.Spawn, later.Exit = 90, 95
	l := &each{answers: []*probe.JobResult{first, {Commands: []probe.CommandResult{later}},
		{Commands: []probe.CommandResult{{Spawn: 100, Exit: 120, Usage: record.Usage{UserNS: 2, MaxRSS: 3}}}}}}
	res, err := run(t.Context(), l, p)
	if err != nil || res.Failure != nil || res.Events[record.Removed] != 120 {
		t.Fatalf("%v, %+v, events %v; want removed at 120", err, res.Failure, res.Events)
	}
	if len(l.jobs) != 3 || *res.Client != (record.Usage{UserNS: 4, MaxRSS: 4}) {
		t.Errorf("%d jobs, usage %+v", len(l.jobs), *res.Client)
	}
	if c := l.jobs[1].Commands; len(c) != 1 || c[0].Await != probe.AwaitPrevious || !c[0].Mute || l.jobs[1].Limit > p.Task.Limit {
		t.Errorf("asked again by %+v within %v", c, l.jobs[1].Limit)
	}
	if len(res.Steps) != 2 || res.Steps[0].At != 80 || res.Steps[1].At != 95 {
		t.Errorf("steps %v, want those at 80 and 95", res.Steps)
	}
}

// What stays refused has timed out, with the engine's words.
func TestAskedAgainInVain(t *testing.T) {
	busy := probe.CommandResult{Spawn: 10, Exit: 20, Status: exited(1), Stdout: []byte("hi"), Stderr: []byte("busy")}
	p, first := attached(probe.JobResult{Commands: []probe.CommandResult{busy}})
	p.Task.Limit, p.Steps[0].Again = 100*time.Millisecond, ofBusy
	res, err := run(t.Context(), &each{answers: []*probe.JobResult{first}}, p)
	if f := res.Failure; err != nil || f == nil || f.Class != record.TimeOut || !strings.Contains(f.Text, "busy") {
		t.Errorf("%v, failure %+v, want class %s", err, res.Failure, record.TimeOut)
	}
	// A command that failed for another reason is not asked again.
	first.Commands[0].Stderr, first.TimedOut = []byte("no"), false
	l := &each{answers: []*probe.JobResult{first}}
	if _, err := run(t.Context(), l, p); err != nil || len(l.jobs) != 1 {
		t.Errorf("%v, %d jobs, want one", err, len(l.jobs))
	}
}
