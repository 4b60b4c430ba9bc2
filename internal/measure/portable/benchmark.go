package portable

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// benchmark runs a workload of one container, whose metrics come out of what it prints.
func (r *run) benchmark(ctx context.Context, t *record.Trial, env *environment, plan *workload.Plan, name, word string) (engine.Result, error) {
	role, err := plan.Roles[0].Resolve(nil)
	if err != nil {
		t.Failure = engine.FailureOf(err)
		return engine.Result{}, nil
	}
	args := role.Task
	args.Word, args.Report = word, true
	argv, err := args.Argv(image.ProbePath)
	if err != nil {
		t.Failure = engine.FailureOf(err)
		return engine.Result{}, nil
	}
	task := engine.Task{Name: name, Argv: argv, Limit: plan.Limit, OutputLimit: outputLimit,
		Env: append([]string{"TMPDIR=" + workload.WorkDir, "HOME=" + workload.WorkDir}, role.Env...)}
	if task.Limit == 0 {
		task.Limit = r.limit()
	}
	res, err := env.run(ctx, task)
	t.Events, t.Steps, t.Exit, t.Client, t.Failure = res.Events, res.Steps, res.Exit, res.Client, res.Failure
	said, perr := probe.ParseTask(res.Stdout, word)
	if t.Failure == nil {
		t.Failure = failedStep(args, said)
	}
	if perr != nil {
		if t.Failure == nil {
			t.Failure = failedBy(record.NoProof, "%v; the last it said: %s", perr, lastLine(append(res.Stdout, res.Stderr...)))
		}
		return res, err
	}
	inside(t, said.Payload)
	t.Binary = said.Binary
	if t.Failure != nil {
		return res, err
	}
	values, verr := plan.Values(map[string][]byte{role.Name: said.Output})
	if verr != nil {
		t.Failure = failedBy(record.BadOutput, "%v", verr)
		return res, err
	}
	maps.Copy(t.Values, values)
	for _, s := range said.Steps {
		if s.Kind == probe.TaskMain && s.End != 0 {
			t.Values[workload.MetricTime] += float64(s.End - s.Begin)
			t.Values[workload.MetricCPUTime] += float64(s.UserNS + s.SystemNS)
			if s.MaxRSS > 0 {
				t.Values[workload.MetricMaxRSS] = max(t.Values[workload.MetricMaxRSS], float64(s.MaxRSS))
			}
		}
	}
	return res, err
}

// noSuchFile is ENOENT of Linux, where the payload runs, whatever runs here.
const noSuchFile = 2

// failedStep says which step of a task did not end as it should.
func failedStep(task probe.TaskArgs, said probe.Task) *record.Failure {
	for _, s := range said.Steps {
		if s.Index < 0 || s.Index >= len(task.Steps) || s.End == 0 || s.Kind == probe.TaskServe {
			continue
		}
		want := task.Steps[s.Index]
		what := fmt.Sprintf("the step %d (%s: %s)", s.Index+1, want.Kind, strings.Join(want.Argv, " "))
		switch {
		case s.Errno == noSuchFile:
			return failedBy(record.Unavailable, "%s can't be started: the image has no such program", what)
		case s.Errno != 0:
			return failedBy(record.Crash, "%s could not be started: error %d of Linux", what, s.Errno)
		case s.Status != want.Status:
			return failedBy(record.Crash, "%s ended with status %d, not %d", what, s.Status, want.Status)
		}
	}
	return nil
}
