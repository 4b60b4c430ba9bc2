package nspawn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// command is nspawn for a trial. Its own environment stays outside.
func (e *environment) command(task engine.Task, options ...string) probe.Command {
	argv := []string{e.path, "--quiet", "--register=no", "--keep-unit", "--console=pipe", "--kill-signal=SIGTERM",
		"--machine=" + task.Name, "--directory=" + e.root.path, storageOption[e.storage]}
	if e.none && task.Beside == nil {
		argv = append(argv, "--private-network")
	}
	argv = append(argv, options...)
	for _, kv := range task.Env {
		argv = append(argv, "--setenv="+kv)
	}
	argv = append(append(argv, "--"), task.Argv...)
	return adapter.As(probe.Command{Argv: argv, Dir: "/"}, nil, e.Kit)
}

// plan is a container's life. A second SIGTERM makes nspawn kill the container
// and take it down; killed itself, it would leave the payload alive.
func (e *environment) plan(task engine.Task, options []string) clirun.Plan {
	p := clirun.Attached(task, e.command(task, options...))
	p.Steps = termTwice(p.Steps)
	p.Steps[0].Removes = e.storage != directory // else it takes a file system of the container's own away
	// nspawn ends with 1 where it failed, and where a signal ended the
	// payload, of which only its message tells. Exit is asked first.
	signalled := false
	p.Exit = func(job *probe.JobResult) *int {
		c := job.Commands[0]
		if c.Errno != 0 || c.Exit == 0 {
			return nil
		}
		n := unix.WaitStatus(c.Status).ExitStatus()
		if s := endedBy(c.Stderr); s != 0 {
			signalled, n = true, 128+int(s)
		}
		return &n
	}
	p.EngineStatus = func(n int) bool { return n == 1 && !signalled }
	return p
}

var bySignal = regexp.MustCompile(`(?m)^Container \S+ terminated by signal ([A-Z0-9]+)\.$`)

// endedBy is the signal that ended the payload by nspawn's word, or 0.
func endedBy(stderr []byte) unix.Signal {
	m := bySignal.FindSubmatch(stderr)
	if m == nil {
		return 0
	}
	return unix.SignalNum("SIG" + string(m[1]))
}

// chatter is what nspawn itself says in an ordinary life. It refuses to empty
// a directory of its own where /run is on a disk.
var chatter = regexp.MustCompile(`(?m)^(Container \S+ terminated by signal [A-Z0-9]+\.|` +
	`Trying to halt container\. Send SIGTERM again to trigger immediate termination\.|` +
	`Attempted to remove disk file system under "` + runDir + `/[^"]*", and we can't allow that\.)\n`)

// apart is the least time between two signals: two of one kind that wait
// together are one.
const apart = 20 * time.Millisecond

// termTwice has a second SIGTERM in place of SIGKILL, and a third should nspawn
// have been too busy to tell the two apart.
func termTwice(steps []clirun.Step) []clirun.Step {
	for i := range steps {
		if c := &steps[i].Cmd; c.Signal == int(unix.SIGKILL) {
			c.Signal, c.Grace = int(unix.SIGTERM), max(c.Grace, apart)
			last := *c
			last.Grace = 100 * apart
			steps = append(steps, clirun.Step{MayFail: true, Cmd: last})
			break
		}
	}
	return steps
}

// colons part a path from what follows it in nspawn's options.
var colons = strings.NewReplacer(`\`, `\\`, ":", `\:`)

// options are nspawn's for what a trial wants beside its program.
func (e *environment) options(task engine.Task) ([]string, error) {
	if task.Own && e.storage == directory {
		return nil, adapter.Unsupported("with storage=directory the container's file system is read-only")
	}
	var options []string
	if task.Beside != nil && e.none {
		pid := task.Beside.Place().PID
		if pid == 0 {
			return nil, &engine.Error{Class: record.EngineError, Text: "the payload of the container to share namespaces with was not found"}
		}
		options = append(options, fmt.Sprintf("--network-namespace-path=/proc/%d/ns/net", pid))
	}
	for _, m := range task.Mounts {
		switch m.Kind {
		case engine.Bind:
			options = append(options, "--bind="+colons.Replace(m.Source)+":"+colons.Replace(m.Target))
		case engine.Tmpfs:
			o := "--tmpfs=" + colons.Replace(m.Target) + ":mode=1777"
			if m.SizeBytes > 0 {
				o += fmt.Sprintf(",size=%d", m.SizeBytes)
			}
			options = append(options, o)
		default:
			return nil, adapter.Unsupported("systemd-nspawn has no volumes")
		}
	}
	return options, nil
}

func (e *environment) Run(ctx context.Context, task engine.Task) (engine.Result, error) {
	options, err := e.options(task)
	if err != nil {
		return adapter.Refused(err), nil
	}
	if err := e.enter(task.Name); err != nil {
		return adapter.Refused(err), nil
	}
	e.root.users.Add(1)
	res, err := e.Base.Run(ctx, e.plan(task, options))
	return res, errors.Join(err, e.tidy(task.Name, &res, err != nil))
}

// Hold keeps nspawn in the background: it stays with its container. machinectl,
// which could execute in one, needs systemd as the host's init.
func (e *environment) Hold(ctx context.Context, task engine.Task) (engine.Held, error) {
	options, err := e.options(task)
	if err != nil {
		return nil, err
	}
	if err := e.enter(task.Name); err != nil {
		return nil, err
	}
	e.root.users.Add(1)
	return clirun.AsHeld(e.Base.Hold(ctx, clirun.Holding{Plan: e.plan(task, options), Place: e.place,
		End: func(stop *engine.Stop) []clirun.Step { return termTwice(clirun.BySignals(stop)) },
		After: func(_ context.Context, res *engine.Result) {
			if err := e.tidy(task.Name, res, res.Events[record.Removed] == 0); err != nil && res.Failure == nil {
				res.Failure = &record.Failure{Class: record.UncleanEnd, Text: err.Error()}
			}
		}}))
}

func (e *environment) place(ctx context.Context, pid int) engine.Place {
	p := clirun.HostPlace(ctx, pid)
	if e.none {
		p.Address, p.NoAddress = "", "its network namespace is empty"
	}
	return p
}

// tidy takes nspawn's own words out of a payload's, and clears up after a
// container that did not end well.
func (e *environment) tidy(name string, res *engine.Result, broken bool) error {
	others := e.root.users.Add(-1) > 0
	res.Stderr = chatter.ReplaceAll(res.Stderr, nil)
	if f := res.Failure; f != nil && f.Class == record.EngineError {
		if said := adapter.Words(res.Stderr); said != "" && bytes.Contains(res.Stderr, []byte(said)) && !strings.Contains(f.Text, said) {
			f.Class, f.Text = adapter.Classify(said, nil), "systemd-nspawn: "+said
		}
	}
	if broken || res.Failure != nil {
		if err := e.root.mop(name, others); err != nil {
			return fmt.Errorf("clearing up after %s: %w", name, err)
		}
	}
	return e.leave(name)
}

func (e *environment) Calibrate(ctx context.Context, task engine.Task, rounds int) ([]probe.Exchange, error) {
	if err := e.enter(task.Name); err != nil {
		return nil, err
	}
	e.root.users.Add(1)
	xs, err := e.Exchange(ctx, task, e.command(task), rounds)
	if others := e.root.users.Add(-1) > 0; err != nil {
		err = errors.Join(err, e.root.mop(task.Name, others))
	}
	return xs, errors.Join(err, e.leave(task.Name))
}
