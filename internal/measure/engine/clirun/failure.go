package clirun

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"

	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// failure decides whether the trial worked, from what was seen.
func (p *Plan) failure(job *probe.JobResult) *record.Failure {
	fail := func(class record.Class, format string, args ...any) *record.Failure {
		return &record.Failure{Class: class, Text: fmt.Sprintf(format, args...)}
	}
	if job.TimedOut {
		text := fmt.Sprintf("did not end within %v and was killed", p.Task.Limit)
		if said := p.lastWords(job); said != "" {
			text += "; last said: " + said
		}
		return fail(record.TimeOut, "%s", text)
	}
	for i, c := range job.Commands {
		if i >= len(p.Steps) || c.Skipped || p.Steps[i].MayFail {
			continue
		}
		name := p.name(i)
		if c.Errno != 0 {
			class := record.EngineError
			if syscall.Errno(c.Errno) == syscall.ENOENT && c.Where == "exec" {
				class = record.Unavailable
			}
			return fail(class, "starting %s: %s: %v", name, c.Where, syscall.Errno(c.Errno))
		}
		if p.Steps[i].Cmd.Signal != 0 || Status(c.Status) == 0 {
			continue
		}
		if i == p.Payload && !p.detached() {
			if f := p.payloadFailure(name, c); f != nil {
				return f
			}
			continue
		}
		if p.oom() {
			f := p.engineFailure(name, c)
			f.Class, f.Text = record.OutOfMemory, "the kernel killed for want of memory meanwhile; "+f.Text
			return f
		}
		return p.engineFailure(name, c)
	}
	// A payload that a signal ended before its first byte has crashed.
	if f := p.ended(job); f != nil {
		return f
	}
	return p.skipped(job)
}

// ended judges the payload's end where it is told apart from its command's.
func (p *Plan) ended(job *probe.JobResult) *record.Failure {
	if job.ContainerReaped {
		return p.signalFailure(Status(job.ContainerStatus))
	}
	if p.Exit != nil {
		if n := p.Exit(job); n != nil {
			return p.signalFailure(*n)
		}
	}
	return nil
}

// skipped makes sure that a trial without a failed command did not just leave
// commands out.
func (p *Plan) skipped(job *probe.JobResult) *record.Failure {
	for i, c := range job.Commands {
		if i >= len(p.Steps) || !c.Skipped || p.Steps[i].MayFail || p.Steps[i].Cmd.Await == probe.AwaitGrace {
			continue
		}
		if p.Steps[i].Cmd.Await == probe.AwaitReady {
			return &record.Failure{Class: record.NoProof, Text: "the payload ended before it had said anything"}
		}
		return &record.Failure{Class: record.HarnessError, Text: fmt.Sprintf("%s was left out, though nothing had failed", p.name(i))}
	}
	return nil
}

// payloadFailure judges a status other than 0 of the command that carries the
// payload: it is either the engine's or the payload's own.
func (p *Plan) payloadFailure(name string, c probe.CommandResult) *record.Failure {
	n := Status(c.Status)
	if len(c.Stdout) == 0 && !p.NoClient {
		engines := len(c.Stderr) > 0 && n < 128
		if p.EngineStatus != nil {
			engines = p.EngineStatus(n)
		}
		if engines {
			return p.engineFailure(name, c)
		}
	}
	return p.signalFailure(n)
}

// signalFailure is the failure of a payload that ended by a signal. One that
// was stopped on purpose may end so.
func (p *Plan) signalFailure(n int) *record.Failure {
	f := adapter.SignalFailure(n, p.Task.Stop != nil)
	if f != nil && n == 128+int(syscall.SIGKILL) && p.oom() {
		return adapter.OutOfMemory()
	}
	return f
}

func (p *Plan) oom() bool { return p.OOM != nil && p.OOM() }

// engineFailure gives the engine's own words.
func (p *Plan) engineFailure(name string, c probe.CommandResult) *record.Failure {
	said := cmp.Or(adapter.Words(c.Stderr), adapter.Words(c.Stdout))
	f := &record.Failure{Class: adapter.Classify(said, p.Patterns), Text: fmt.Sprintf("%s: status %d", name, Status(c.Status))}
	if said != "" {
		f.Text += ": " + said
	}
	return f
}

// lastWords are the last thing that any command said on stderr.
func (p *Plan) lastWords(job *probe.JobResult) string {
	for i := len(job.Commands) - 1; i >= 0; i-- {
		if said := adapter.Words(job.Commands[i].Stderr); said != "" {
			return said
		}
	}
	return ""
}

// name is the program with its verb: "runc create".
func (p *Plan) name(i int) string {
	argv := p.Steps[i].Cmd.Argv
	if len(argv) == 0 {
		return fmt.Sprintf("step %d", i+1)
	}
	name := filepath.Base(argv[0])
	if i == p.Payload && p.NoClient {
		return name
	}
	for _, a := range argv[1:] {
		if isVerb(a) {
			return name + " " + a
		}
	}
	return name
}

func isVerb(s string) bool {
	if s == "" || len(s) > 10 {
		return false
	}
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == ""
}
