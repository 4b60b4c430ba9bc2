package portable

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// newWord is the random word that proves that this trial's payload answered.
func newWord() string { return record.NewRunID() + record.NewRunID() }

// outputLimit is what is kept of each stream of a benchmark.
const outputLimit = 1 << 20

// prove runs one container with every image that the plan wants here, and takes from
// the payload's own report what the environment is.
func (r *run) prove(ctx context.Context, env *environment) error {
	for _, name := range r.imagesOf(env.rec) {
		tag, err := r.provide(ctx, env, name)
		if err != nil {
			return err
		}
		env.settings.image = tag
		word := newWord()
		task := engine.Task{Name: fmt.Sprintf("plimsoll-%s-proof-%s", r.Run.ID, record.NewRunID()), Limit: r.limit(),
			Argv: probe.PayloadArgs{Word: word, Report: true}.Argv(image.ProbePath)}
		res, err := env.run(ctx, task)
		if err != nil {
			return err
		}
		if res.Failure != nil {
			return &engine.Error{Class: res.Failure.Class, Text: "the first container: " + res.Failure.Text}
		}
		said, err := probe.ParsePayload(res.Stdout, word)
		if err != nil {
			return &engine.Error{Class: record.NoProof, Text: fmt.Sprintf("the first container of the image %s", name), Err: err}
		}
		env.rec.Facts["kernel"], env.rec.Facts["root-fs"], env.rec.Facts["seccomp-inside"] = said.Report["uname.release"], said.Report["root.fs"], said.Report["seccomp"]
		env.boot = bootOf(env.rec.Facts, said.Report)
		if env.rec.Levels[engine.Seccomp] == "off" && said.Report["seccomp"] != "0" {
			return &engine.Error{Class: record.WrongComponent, Text: "asked for no seccomp, and the payload has the mode " + said.Report["seccomp"]}
		}
	}
	return nil
}

// imageOf is the image that a workload runs in.
func imageOf(env *record.Environment, w *record.Workload) string {
	if l := env.Levels[engine.Image]; l != "" && l != engine.DefaultLevel {
		return l
	}
	def, err := workload.Of(*w)
	if err != nil || def.Image == "" {
		return payloadImage
	}
	return def.Image
}

// imagesOf are those that the plan wants in an environment.
func (r *run) imagesOf(env *record.Environment) (names []string) {
	for _, c := range r.Plan.Cells {
		if r.Plan.Environments[c.Env].ID != env.ID {
			continue
		}
		if name := imageOf(env, &r.Plan.Workloads[c.Workload]); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func (r *run) limit() time.Duration { return time.Duration(r.Plan.Protocol.TrialLimitNS) }

// trial carries one out; keep says that its output is kept. The error is the context's
// or the ledger's.
func (r *run) trial(ctx context.Context, p study.Trial) (t *record.Trial, res engine.Result, keep bool, err error) {
	t = &record.Trial{Seq: p.Seq, Block: p.Block, Warmup: p.Warmup, Env: p.Env.ID, Workload: p.Workload.ID, Params: p.Workload.Params,
		Clock: record.ClockForeign, Values: map[string]float64{}}
	env := r.envs[p.Env.ID]
	if env == nil {
		t.At, t.Failure = time.Now(), failedBy(record.Unavailable, "the environment could not be opened again when the run was resumed: %s", r.lost[p.Env.ID])
		return t, res, false, nil
	}
	if pause := r.Run.Protocol.PauseNS; pause > 0 {
		select {
		case <-time.After(time.Duration(pause)):
		case <-ctx.Done():
			return nil, res, false, ctx.Err()
		}
	}
	t.At = time.Now()
	def, err := workload.Of(*p.Workload)
	if err != nil {
		return nil, res, false, err
	}
	inst, err := def.Instance(p.Workload.Params)
	if err != nil {
		return nil, res, false, err
	}
	if env.d != nil {
		trip, err := env.d.RoundTrip(ctx)
		if err != nil {
			t.Failure = engine.FailureOf(env.d.wrong("before the trial", err))
			return t, res, false, ctx.Err()
		}
		t.Values[roundTripMetric] = float64(trip)
	}
	env.settings.image = r.Look.Images.tag(imageOf(env.rec, p.Workload))
	name, word := fmt.Sprintf("plimsoll-%s-%d", r.Run.ID, p.Seq), newWord()
	switch {
	case inst.Plan != nil:
		res, err = r.benchmark(ctx, t, env, inst.Plan, name, word)
		keep = true
	case inst.Exec:
		stay := engine.Task{Name: name, Limit: r.limit(), Argv: probe.PayloadArgs{Word: newWord(), Stay: true}.Argv(image.ProbePath)}
		var told map[string]float64
		res, told, err = env.exec(ctx, stay, inst.Argv(word))
		maps.Copy(t.Values, told)
		fill(t, res, inst, word)
	default:
		task := engine.Task{Name: name, Argv: inst.Argv(word), Limit: r.limit()}
		if inst.Stop {
			task.Stop = &engine.Stop{Grace: inst.Grace}
		}
		res, err = env.run(ctx, task)
		fill(t, res, inst, word)
	}
	return t, res, keep, errors.Join(err, ctx.Err())
}

// fill turns what was seen and what the payload said into the record.
func fill(t *record.Trial, res engine.Result, inst workload.Instance, word string) {
	t.Events, t.Steps, t.Exit, t.Client, t.Failure = res.Events, res.Steps, res.Exit, res.Client, res.Failure
	said, err := probe.ParsePayload(res.Stdout, word)
	if err != nil {
		if t.Failure == nil {
			t.Failure = failedBy(record.NoProof, "%v; the last it said: %s", err, lastLine(append(res.Stdout, res.Stderr...)))
		}
		return
	}
	inside(t, said)
	if wanted := inst.Exits(); t.Failure == nil && t.Exit != nil && !slices.Contains(wanted, *t.Exit) {
		t.Failure = failedBy(record.Crash, "the payload ended with status %d, not one of %v", *t.Exit, wanted)
	}
}

// inside adds the payload's own stamps, which are of a foreign clock.
func inside(t *record.Trial, said probe.Payload) {
	t.Events[record.First] = said.First
	if said.Done != 0 {
		t.Events[record.Done] = said.Done
	}
}
