package run

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

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

// trial carries out one trial and gives what is to be recorded. An error is
// only for what ends the run: the context.
func (r *runner) trial(ctx context.Context, p study.Trial, o *openEnv, inst workload.Instance) (*record.Trial, engine.Result, error) {
	t := blank(p)
	t.Clock = o.clock
	word := newWord()
	task := engine.Task{
		Name:  fmt.Sprintf("plimsoll-%s-%d", r.rec.ID, p.Seq),
		Argv:  inst.Argv(word),
		Limit: r.limit(),
	}
	if inst.Stop {
		task.Stop = &engine.Stop{Grace: inst.Grace}
	}

	if err := r.settle(ctx, o, t); err != nil || !t.OK() {
		return unsettled(t, err)
	}
	r.between()
	var res engine.Result
	var err error
	var sampled *collect.Series
	r.observe(o, t, func() {
		var series *collect.Watch
		if r.watchesStarts() {
			series = r.watching.begin(o, "", word, nil)
		}
		res, err = runGuarded(ctx, o.env, task)
		sampled = ended(series, res.Events[record.Request])
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, res, ctx.Err() // broken off by the user: no result
	case err != nil:
		t.Failure = failureOf(err)
	}
	r.refused(res)
	said := r.fill(t, o, inst, word, res)
	r.fillThrottled(t, o, said.Report)
	r.watching.keep(t, sampled, true)
	return t, res, nil
}

// settle brings the machine into the state in which a trial may start; where
// it can't, the trial has failed and is not begun. The error is the context's.
func (r *runner) settle(ctx context.Context, o *openEnv, t *record.Trial) error {
	if o.virtual {
		return ctx.Err()
	}
	if p := r.rec.Protocol.PauseNS; p > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(p)):
		}
	}
	if r.rec.Protocol.Cache == cacheCold {
		if err := r.cool(); err != nil {
			t.At, t.Failure = time.Now(), failureOf(err)
			return ctx.Err()
		}
	}
	waited, calm := r.quiet(ctx)
	t.Quiet = int64(waited)
	if !calm {
		t.Remarks = append(t.Remarks, "the host was not quiet before this trial")
	}
	return ctx.Err()
}

// unsettled gives a trial that settle did not let begin.
func unsettled(t *record.Trial, err error) (*record.Trial, engine.Result, error) {
	if err != nil {
		t = nil
	}
	return t, engine.Result{}, err
}

// collectAt is the growth of the heap after which garbage is collected
// between two trials. While a trial runs the collector is off.
const collectAt = 16 << 20

// between collects garbage between trials, where there is some.
func (r *runner) between() {
	r.sinceGC++
	if r.sinceGC < 16 { // reading the statistics is not free either
		return
	}
	r.sinceGC = 0
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > r.heapAfterGC+collectAt {
		runtime.GC()
		runtime.ReadMemStats(&m)
		r.heapAfterGC = m.HeapAlloc
	}
}

// collectorOff switches the collector off and gives what switches it on again.
func collectorOff() func() {
	runtime.GC()
	old := debug.SetGCPercent(-1)
	return func() { debug.SetGCPercent(old) }
}

// fill turns what the engine saw and what the payload said into the record, and
// gives what it said.
func (r *runner) fill(t *record.Trial, o *openEnv, inst workload.Instance, word string, res engine.Result) probe.Payload {
	t.Events = res.Events
	t.Steps = res.Steps
	t.Exit = res.Exit
	t.Client = res.Client
	if t.Failure == nil {
		t.Failure = res.Failure
	}
	said, err := probe.ParsePayload(res.Stdout, word)
	if err != nil {
		if t.Failure == nil {
			t.Failure = &record.Failure{Class: noProofClass(err), Text: noProofText(err, res)}
		}
		return said
	}
	stampInside(t, said)
	if t.Failure == nil && res.Exit != nil && *res.Exit != wanted(inst) {
		t.Failure = &record.Failure{Class: record.Crash, Text: fmt.Sprintf("the payload ended with status %d, not %d", *res.Exit, wanted(inst))}
	}
	r.judgeClock(t, o)
	r.fillInside(t, o, said)
	return said
}

// fillInside records what the payload saw, and judges it.
func (r *runner) fillInside(t *record.Trial, o *openEnv, said probe.Payload) {
	if len(said.Report) == 0 {
		return
	}
	in := r.inside(o.rec.ID, r.insider.inForce(said.Report))
	r.judgeInside(t, o, in)
	id, err := r.writer.AddInside(in)
	if err != nil {
		t.Remarks = append(t.Remarks, err.Error())
		return
	}
	t.Inside = id
}

// wanted is the exit status that the payload was asked for. A payload that
// does not handle SIGTERM is killed by SIGKILL in the end: 128 + 9.
func wanted(inst workload.Instance) int {
	if inst.Stop && inst.Payload.OnTerm == "ignore" {
		return 137
	}
	return inst.Payload.Exit
}

// judgeClock sets the trial's clock. Where no exchange could be held, the
// first trial decides, and a stamp out of order later decides anew: a foreign
// clock may by chance lie near ours once, a shared one never lies out of order.
func (r *runner) judgeClock(t *record.Trial, o *openEnv) {
	if t.Failure != nil {
		return
	}
	fits := ordered(t.Events)
	switch {
	case o.clock == "" && fits:
		o.clock = record.ClockShared
	case !fits && o.clock != record.ClockForeign:
		if o.clock == record.ClockShared {
			t.Remarks = append(t.Remarks, "an inside stamp lies outside the request and the end: the clock is taken for a foreign one from here on")
		}
		o.clock = record.ClockForeign
	}
	t.Clock = o.clock
	o.rec.Clock = o.clock
}

// judgeInside fails a trial whose container was another one than was asked
// for, or than the first of its environment was.
func (r *runner) judgeInside(t *record.Trial, o *openEnv, in record.Inside) {
	if t.Failure != nil {
		return
	}
	if why := wrongNetwork(o.rec, in); why != "" {
		t.Failure = &record.Failure{Class: record.WrongComponent, Text: why}
		return
	}
	if o.seen == nil {
		o.seen = &in
		return
	}
	if why := differs(*o.seen, in); why != "" {
		t.Failure = &record.Failure{Class: record.WrongComponent, Text: "this container is not like the first of its environment: " + why}
	}
}

// wrongNetwork compares the network asked for with the namespace seen inside.
func wrongNetwork(env *record.Environment, in record.Inside) string {
	got := in.Namespaces["net"]
	if got == "" || env.Baseline != "" {
		return ""
	}
	switch env.Levels[engine.Network] {
	case "none":
		if got == "host" {
			return "network none was asked for, but the container is in the host's network namespace"
		}
	case "host":
		// Behind a foreign kernel the inode says nothing.
		if got == "own" && in.Kernel == kernelRelease() {
			return "network host was asked for, but the container is in a network namespace of its own"
		}
	}
	return ""
}

// failureOf gives the class and the text of an adapter's error.
func failureOf(err error) *record.Failure {
	var e *engine.Error
	if errors.As(err, &e) {
		return &record.Failure{Class: e.Class, Text: e.Error()}
	}
	return &record.Failure{Class: record.HarnessError, Text: err.Error()}
}

func noProofClass(err error) record.Class {
	if errors.Is(err, probe.ErrNoProof) {
		return record.NoProof
	}
	return record.BadOutput
}

// noProofText says what came instead of the word.
func noProofText(err error, res engine.Result) string {
	text := err.Error()
	for _, s := range [][]byte{res.Stderr, res.Stdout} {
		if line := lastLine(s); line != "" {
			return text + "; the last it said: " + line
		}
	}
	return text + "; nothing was printed"
}

func lastLine(b []byte) string {
	const most = 300
	lines := slices.DeleteFunc(splitLines(b), func(s string) bool { return s == "" })
	if len(lines) == 0 {
		return ""
	}
	s := lines[len(lines)-1]
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
