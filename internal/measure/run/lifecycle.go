package run

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/measure/collect"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

const probePath = image.ProbePath

// newWord is the random word that proves that this trial's payload answered.
func newWord() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails: the Go runtime ends the program instead
	return hex.EncodeToString(b)
}

// lifeCycle is one container from its request to its removal.
type lifeCycle struct {
	*site
	inst workload.Instance
}

func (l lifeCycle) watched(asked bool) bool { return asked }

func (l lifeCycle) trial(ctx context.Context, p study.Trial, o *openEnv) (*record.Trial, engine.Result, error) {
	t := blank(p)
	t.Clock = o.clock
	word := newWord()
	task := engine.Task{
		Name:  fmt.Sprintf("plimsoll-%s-%d", l.rec.ID, p.Seq),
		Argv:  l.inst.Argv(word),
		Limit: l.limit(), Checked: l.cold(),
	}
	if l.inst.Stop {
		task.Stop = &engine.Stop{Grace: l.inst.Grace}
	}

	if err := l.settle(ctx, o, t); err != nil || !t.OK() {
		return unsettled(t, err)
	}
	var res engine.Result
	var err error
	var sampled *collect.Series
	var followed *record.Trace
	var last int64
	l.observe(o, t, func() {
		var series *collect.Watch
		if l.watchesStarts() {
			series = l.watching.begin(o, "", word, nil)
		}
		run := func() engine.Result {
			if l.atOnce > 1 && Accompanied(p.Block) {
				res, last, err = inCompany(ctx, o.env, task, l.atOnce)
			} else {
				res, err = runGuarded(ctx, o.env, task)
			}
			return res
		}
		if l.tracing.wants(p, o) {
			followed = l.tracing.follow(t, run)
		} else {
			run()
		}
		sampled = ended(series, res.Events[record.Request])
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, res, ctx.Err() // broken off by the user: no result
	case err != nil:
		t.Failure = engine.FailureOf(err)
	}
	l.refused(res)
	said := l.fill(t, o, l.inst, word, res)
	l.fillThrottled(t, o, said.Report)
	l.keepWatched(t, sampled, true)
	l.keepTrace(t, followed)
	if last > 0 && t.OK() {
		t.Values = map[string]float64{LastReady: float64(last)}
	}
	return t, res, nil
}

// fill turns what the engine saw and what the payload said into the record, and
// gives what it said.
func (s *site) fill(t *record.Trial, o *openEnv, inst workload.Instance, word string, res engine.Result) probe.Payload {
	t.Events = res.Events
	t.Steps = res.Steps
	t.Exit = res.Exit
	t.Client = res.Client
	t.Failure = cmp.Or(t.Failure, res.Failure)
	said, err := probe.ParsePayload(res.Stdout, word)
	if err != nil {
		t.Failure = cmp.Or(t.Failure, noProof(err, res))
		return said
	}
	stampInside(t, said)
	if t.Failure == nil && res.Exit != nil && !slices.Contains(inst.Exits(), *res.Exit) {
		t.Failure = &record.Failure{Class: record.Crash, Text: fmt.Sprintf("the payload ended with status %d, not %s", *res.Exit, oneOf(inst.Exits()))}
	}
	s.judgeClock(t, o)
	s.fillInside(t, o, said)
	return said
}

func oneOf(numbers []int) string {
	out := make([]string, len(numbers))
	for i, n := range numbers {
		out[i] = strconv.Itoa(n)
	}
	return strings.Join(out, " or ")
}
