package run

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// judge reads the last role's own account and fills in the trial.
func (c *cast) judge(t *record.Trial, res engine.Result, word string) {
	t.Events, t.Steps, t.Exit, t.Client = res.Events, res.Steps, res.Exit, res.Client
	t.Failure = cmp.Or(t.Failure, res.Failure)
	if word == "" {
		return
	}
	said, err := probe.ParseTask(res.Stdout, word)
	c.said = said
	role := c.last()
	if t.Failure == nil {
		if t.Failure = failedStep(role.Task, said); t.Failure != nil {
			if line := lastLine(res.Stderr); line != "" {
				t.Failure.Text += "; the last it said: " + line
			}
		}
	}
	if err != nil {
		t.Failure = cmp.Or(t.Failure, tornOrNoProof(err, res))
		return
	}
	stampInside(t, said.Payload)
	t.Binary = said.Binary
	if role.Host {
		return // what it saw and its clock are the host's
	}
	c.judgeClock(t, c.o)
	c.fillInside(t, c.o, said.Payload)
}

// explain names what the container lacks, where the workload's own words tell.
func (c *cast) explain(t *record.Trial, res engine.Result) {
	if t.Failure == nil || t.Failure.Class != record.Crash {
		return
	}
	for _, s := range c.servers {
		if line := s.endedEarly(); line != "" {
			t.Failure.Text += "; the role " + s.role.Name + " ended by itself: " + line
		}
	}
	said := [][]byte{res.Stdout, res.Stderr, []byte(t.Failure.Text)}
	for _, s := range c.servers {
		if s.ended != nil {
			said = append(said, s.ended.Stdout, s.ended.Stderr)
		}
	}
	lacking(t, c.plan.Lacks, said)
}

// lacking makes a failure one for want of something in the container, where what was
// said tells.
func lacking(t *record.Trial, lacks []workload.Lack, said [][]byte) {
	for _, l := range lacks {
		if slices.ContainsFunc(said, l.Says.Match) {
			t.Failure = &record.Failure{Class: record.Unsupported, Text: l.Because + " (" + t.Failure.Text + ")"}
			return
		}
	}
}

// endedEarly says with which words a server went that nobody had ended; empty
// for one that was there to the end.
func (s *server) endedEarly() string {
	if s.ended == nil {
		return ""
	}
	said, _ := probe.ParseTask(s.ended.Stdout, s.word)
	stay := int64(0)
	for _, step := range said.Steps {
		if step.Kind == probe.TaskStay {
			stay = step.End
		}
	}
	for _, step := range said.Steps {
		if step.Kind == probe.TaskServe && step.End != 0 && (stay == 0 || step.End < stay) {
			return cmp.Or(lastLine(s.ended.Stderr), fmt.Sprintf("with status %d", step.Status))
		}
	}
	return ""
}

func tornOrNoProof(err error, res engine.Result) *record.Failure {
	if errors.Is(err, probe.ErrTorn) && len(res.Stdout) >= outputLimit-1 {
		return &record.Failure{Class: record.BadOutput, Text: fmt.Sprintf("the workload printed more than %d MiB", outputLimit>>20)}
	}
	if errors.Is(err, probe.ErrTorn) {
		return &record.Failure{Class: record.Crash, Text: noProofText(err, res)}
	}
	return noProof(err, res)
}

// failedStep says which step of a task did not end as it should.
func failedStep(task probe.TaskArgs, said probe.Task) *record.Failure {
	for _, s := range said.Steps {
		if s.Index < 0 || s.Index >= len(task.Steps) || s.End == 0 {
			continue
		}
		want := task.Steps[s.Index]
		what := fmt.Sprintf("the step %d (%s: %s)", s.Index+1, want.Kind, strings.Join(want.Argv, " "))
		switch {
		case s.Kind == probe.TaskPort || s.Kind == probe.TaskFile:
			if why := notReady(want, s.Errno); why != "" {
				return &record.Failure{Class: record.Crash, Text: why}
			}
		case s.Kind == probe.TaskServe:
			continue // it is ended by us
		case s.Errno == int(syscall.ENOENT):
			return &record.Failure{Class: record.Unavailable, Text: what + " can't be started: the image has no such program"}
		case s.Errno != 0:
			return &record.Failure{Class: record.Crash, Text: what + " could not be started: " + syscall.Errno(s.Errno).Error()}
		case s.Status != want.Status:
			return &record.Failure{Class: record.Crash, Text: fmt.Sprintf("%s ended with status %d, not %d", what, s.Status, want.Status)}
		}
	}
	return nil
}

// notReady says why waiting for a server was in vain.
func notReady(want probe.TaskStep, errno int) string {
	what := fmt.Sprintf("the port %d", want.Port)
	if want.File != "" {
		what = "the file " + want.File
	}
	switch syscall.Errno(errno) {
	case 0:
		return ""
	case syscall.ETIMEDOUT:
		return "waiting for " + what + ": it did not come in time"
	case syscall.ESRCH:
		return "waiting for " + what + ": a server has ended before it came"
	}
	return "waiting for " + what + ": " + syscall.Errno(errno).Error()
}
