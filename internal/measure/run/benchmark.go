package run

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"time"

	"plimsoll/internal/measure/collect"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// benchmark is a workload from a file: its servers are held, its last role is
// run and measured, and the metrics come out of what the roles printed.
type benchmark struct {
	*site
	plan *workload.Plan
	// unmet says which of the workload's needs are not met in an environment.
	unmet func(workload.Needs, *openEnv) *record.Failure
	// onHost is where roles run that stay on the host.
	onHost func(context.Context, *openEnv) (engine.Environment, error)
}

func (b benchmark) watched(bool) bool { return true }

func (b benchmark) trial(ctx context.Context, p study.Trial, o *openEnv) (*record.Trial, engine.Result, error) {
	t := begun(p, o)
	if why := b.unmet(b.plan.Needs, o); why != nil {
		t.Failure, b.settled = why, why.Class == record.Unsupported
		return t, engine.Result{}, nil
	}
	if t.Failure = unreached(o, b.plan); t.Failure != nil {
		return t, engine.Result{}, nil
	}
	c := &cast{benchmark: b, o: o, seq: p.Seq, limit: cmp.Or(b.plan.Limit, b.limit()), addresses: map[string]string{}}
	if b.plan.Files == workload.FilesBind {
		c.dir = filepath.Join(b.kit.Dir, fmt.Sprintf("work-%d", p.Seq))
	}
	res, word, err := b.play(ctx, t, c)
	// Whatever has happened, the servers are ended.
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.limit+30*time.Second)
	defer cancel()
	c.endSeries(t)
	failure := c.end(after)
	if err != nil {
		return nil, res, err
	}
	c.judge(t, res, word)
	t.Failure = cmp.Or(t.Failure, failure)
	c.explain(t, res)
	if t.Failure == nil {
		c.values(t)
	}
	b.keepWatched(t, c.sampled, true)
	res.Stdout, res.Stderr = c.transcript(res)
	return t, res, ctx.Err()
}

// play raises the servers and runs the last role. The error is the context's.
func (b benchmark) play(ctx context.Context, t *record.Trial, c *cast) (res engine.Result, word string, err error) {
	limit, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	if err := b.settle(ctx, c.o, t); err != nil || !t.OK() {
		return res, "", err
	}
	fail := func(err error) (engine.Result, string, error) {
		if ctx.Err() != nil {
			return res, word, ctx.Err() // broken off by the user: no result
		}
		t.Failure = engine.FailureOf(err)
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
	b.observe(c.o, t, func() {
		var series *collect.Watch
		if !last.Host {
			series = b.watching.begin(c.o, "", word, nil)
		}
		if b.plan.ByCommands {
			res, err = b.commands(ctx, c.o, env, task)
		} else {
			res, err = runGuarded(ctx, env, task)
		}
		c.sampled = ended(series, res.Events[record.Request])
	})
	if err != nil {
		return fail(err)
	}
	b.refused(res)
	return res, word, nil
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
	maps.Copy(values, standardOf(c.said))
	t.Values = values
}

// standardSum is the one of the standard metrics that adds up over processes.
const standardSum = workload.MetricCPUTime

// standardOf are the metrics that every workload has, of the main steps.
func standardOf(said probe.Task) map[string]float64 {
	values := map[string]float64{}
	for _, s := range said.Steps {
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
	return values
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
