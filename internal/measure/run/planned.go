package run

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"plimsoll/internal/measure/collect"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// planned carries out one trial of a workload from a file: its servers are
// held, its last role is run and measured, and the metrics come out of what
// the roles printed.
func (r *runner) planned(ctx context.Context, p study.Trial, o *openEnv, plan *workload.Plan) (*record.Trial, engine.Result, error) {
	t := blank(p)
	t.Clock = o.clock
	t.At = time.Now()
	if why := r.unmet(plan.Needs, o); why != nil {
		t.Failure, r.settled = why, why.Class == record.Unsupported
		return t, engine.Result{}, nil
	}
	if t.Failure = unreached(o, plan); t.Failure != nil {
		return t, engine.Result{}, nil
	}
	c := &cast{r: r, o: o, plan: plan, seq: p.Seq, limit: plan.Limit, addresses: map[string]string{}}
	if c.limit == 0 {
		c.limit = r.limit()
	}
	if plan.Files == workload.FilesBind {
		c.dir = filepath.Join(r.kit.Dir, fmt.Sprintf("work-%d", p.Seq))
	}
	res, word, err := r.play(ctx, t, c)
	// Whatever has happened, the servers are ended.
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.limit+30*time.Second)
	defer cancel()
	c.endSeries(t)
	failure := c.end(after)
	if err != nil {
		return nil, res, err
	}
	c.judge(t, res, word)
	if t.Failure == nil {
		t.Failure = failure
	}
	c.explain(t, res)
	if t.Failure == nil {
		c.values(t)
	}
	r.watching.keep(t, c.sampled, true)
	res.Stdout, res.Stderr = c.transcript(res)
	return t, res, ctx.Err()
}

// play raises the servers and runs the last role. The error is the context's.
func (r *runner) play(ctx context.Context, t *record.Trial, c *cast) (res engine.Result, word string, err error) {
	limit, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	if err := r.settle(ctx, c.o, t); err != nil || !t.OK() {
		return res, "", err
	}
	r.between()
	fail := func(err error) (engine.Result, string, error) {
		if ctx.Err() != nil {
			return res, word, ctx.Err() // broken off by the user: no result
		}
		t.Failure = failureOf(err)
		return res, word, nil
	}
	if err := c.raise(limit); err != nil {
		return fail(err)
	}
	last := c.last()
	env, err := c.envOf(limit, last)
	if err != nil {
		return fail(err)
	}
	word = newWord()
	task, err := c.task(last, word)
	if err != nil {
		return fail(err)
	}
	r.observe(c.o, t, func() {
		var series *collect.Watch
		if !last.Host {
			series = r.watching.begin(c.o, "", word, nil)
		}
		res, err = runGuarded(ctx, env, task)
		c.sampled = ended(series, res.Events[record.Request])
	})
	if err != nil {
		return fail(err)
	}
	r.refused(res)
	return res, word, nil
}

// judge reads the last role's own account and fills in the trial.
func (c *cast) judge(t *record.Trial, res engine.Result, word string) {
	t.Events, t.Steps, t.Exit, t.Client = res.Events, res.Steps, res.Exit, res.Client
	if t.Failure == nil {
		t.Failure = res.Failure
	}
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
		if t.Failure == nil {
			t.Failure = tornOrNoProof(err, res)
		}
		return
	}
	stampInside(t, said.Payload)
	t.Binary = said.Binary
	if role.Host {
		return // what it saw and its clock are the host's
	}
	c.r.judgeClock(t, c.o)
	c.r.fillInside(t, c.o, said.Payload)
}

// explain names what the container lacks, where the workload's own words tell.
func (c *cast) explain(t *record.Trial, res engine.Result) {
	if t.Failure == nil || t.Failure.Class != record.Crash {
		return
	}
	for _, s := range c.servers {
		if line := s.endedEarly(); line != "" {
			t.Failure.Text += "; the role " + s.role.Name + " had ended by itself: " + line
		}
	}
	said := [][]byte{res.Stdout, res.Stderr, []byte(t.Failure.Text)}
	for _, s := range c.servers {
		if s.ended != nil {
			said = append(said, s.ended.Stdout, s.ended.Stderr)
		}
	}
	for _, l := range c.plan.Lacks {
		for _, text := range said {
			if l.Says.Match(text) {
				t.Failure = &record.Failure{Class: record.Unsupported, Text: l.Because + " (" + t.Failure.Text + ")"}
				return
			}
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
	return &record.Failure{Class: noProofClass(err), Text: noProofText(err, res)}
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

// values takes the metrics out of the output.
func (c *cast) values(t *record.Trial) {
	outputs := map[string][]byte{}
	for _, s := range c.servers {
		outputs[s.role.Name] = mainOutput(s.ended.Stdout, s.word)
	}
	outputs[c.last().Name] = c.said.Output
	values, err := c.plan.Values(outputs)
	if err != nil {
		t.Failure = &record.Failure{Class: record.BadOutput, Text: err.Error()}
		return
	}
	if values == nil {
		values = map[string]float64{}
	}
	for _, s := range c.said.Steps {
		if s.Kind != probe.TaskMain || s.End == 0 {
			continue
		}
		values[workload.MetricTime] += float64(s.End - s.Begin)
		values[workload.MetricCPUTime] += float64(s.UserNS + s.SystemNS)
		// The kernel counts in batches of pages for each processor: of a program
		// as small as the probe it knows nothing.
		if s.MaxRSS > 0 {
			values[workload.MetricMaxRSS] = max(values[workload.MetricMaxRSS], float64(s.MaxRSS))
		}
	}
	t.Values = values
}

func mainOutput(out []byte, word string) []byte {
	said, _ := probe.ParseTask(out, word) // a server that was killed is torn, and what it said counts
	return said.Output
}

// transcript is what all roles printed, for the file beside the record.
func (c *cast) transcript(res engine.Result) (stdout, stderr []byte) {
	if len(c.servers) == 0 {
		return res.Stdout, res.Stderr
	}
	var out, errOut bytes.Buffer
	for _, s := range c.servers {
		if s.ended == nil {
			continue
		}
		fmt.Fprintf(&out, "== the role %s\n%s\n", s.role.Name, s.ended.Stdout)
		fmt.Fprintf(&errOut, "== the role %s\n%s\n", s.role.Name, s.ended.Stderr)
	}
	last := c.last().Name
	fmt.Fprintf(&out, "== the role %s\n%s\n", last, res.Stdout)
	fmt.Fprintf(&errOut, "== the role %s\n%s\n", last, res.Stderr)
	return out.Bytes(), errOut.Bytes()
}
