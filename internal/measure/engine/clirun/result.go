package clirun

import (
	"cmp"
	"slices"
	"syscall"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// Result turns what the launcher saw into the trial's course.
func (p *Plan) Result(job *probe.JobResult) engine.Result {
	res := engine.Result{Events: map[record.Event]int64{}}
	set := func(e record.Event, at int64) {
		if e != "" && at != 0 {
			res.Events[e] = at
		}
	}
	for i, c := range job.Commands {
		if i >= len(p.Steps) || c.Skipped {
			continue
		}
		s := p.Steps[i]
		set(s.Begin, c.Spawn)
		if c.Errno == 0 {
			set(s.End, c.Exit)
		}
		if s.Name != "" && c.Exit != 0 {
			res.Steps = append(res.Steps, record.Step{Name: s.Name, At: c.Exit})
		}
		res.Steps = append(res.Steps, c.Steps...)
		if !p.NoClient && s.Cmd.Signal == 0 {
			res.Client = addUsage(res.Client, c.Usage)
		}
	}
	if p.Payload < len(job.Commands) {
		c := job.Commands[p.Payload]
		res.Stdout, res.Stderr = c.Stdout, c.Stderr
		set(record.Ready, c.First)
		switch {
		case job.ContainerExit != 0:
			set(record.Exit, job.ContainerExit)
		case c.Errno == 0 && !p.Steps[p.Payload].Removes:
			set(record.Exit, c.Exit)
		}
		res.Exit = p.exit(job, c)
	}
	if p.Task.Stop != nil {
		// A stop that is a signal has returned when the container has ended.
		if _, ok := res.Events[record.Stopped]; !ok && res.Events[record.Stop] != 0 {
			set(record.Stopped, ended(res.Events))
		}
	}
	res.Failure = p.failure(job)
	return res
}

// ended is when we knew that the container had ended.
func ended(events map[record.Event]int64) int64 {
	return cmp.Or(events[record.Exit], events[record.Removed])
}

func (p *Plan) exit(job *probe.JobResult, c probe.CommandResult) *int {
	if p.Exit != nil {
		return p.Exit(job)
	}
	raw := c.Status
	switch {
	case job.ContainerReaped:
		raw = job.ContainerStatus
	case c.Errno != 0 || c.Exit == 0 || p.detached():
		return nil
	}
	n := Status(raw)
	return &n
}

// detached says whether the payload's step ends before the container does, so
// that its status is not the container's.
func (p *Plan) detached() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Cmd.PidFile != "" })
}

// Status is the exit status as a shell gives it, of a raw wait status: 128 + n for signal n.
func Status(raw int) int {
	ws := syscall.WaitStatus(raw)
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}

func addUsage(sum *record.Usage, u record.Usage) *record.Usage {
	if sum == nil {
		sum = &record.Usage{}
	}
	sum.UserNS += u.UserNS
	sum.SystemNS += u.SystemNS
	sum.MaxRSS = max(sum.MaxRSS, u.MaxRSS)
	return sum
}
