package run

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// openLoop is a load of containers that come at their times, whatever became of
// those before.
type openLoop struct {
	*site
	what workload.Load
}

// loader is a load trial under way.
type loader struct {
	site    *site
	o       *openEnv
	what    workload.Load
	seq     int
	chance  *rand.Rand
	most    int // containers in flight
	started int // containers in all: part of their names

	steps   []record.LoadStep
	probes  []record.LoadProbe
	failure *record.Failure // the first of a container
	remarks []string
}

// mostInFlight bounds the containers that are on their way at once: so many
// that no engine carries them, and so few that the machine does.
func mostInFlight() int { return min(max(64*runtime.NumCPU(), 64), 1024) }

// chanceOf gives a trial's own course of chance, the same for the same seed.
func chanceOf(seed uint64, seq int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(seq))) }

func (l openLoop) watched(bool) bool { return false }

func (l openLoop) trial(ctx context.Context, p study.Trial, o *openEnv) (*record.Trial, engine.Result, error) {
	t := begun(p, o)
	if o.virtual && !l.timePasses(ctx, o) {
		l.refuse(t, o.rec.ID+" is simulated and takes no time; the fake's runtimes sleeping and serial take some")
		return t, engine.Result{}, ctx.Err()
	}
	if err := l.settle(ctx, o, t); err != nil || !t.OK() {
		return unsettled(t, err)
	}
	// Adapters keep the collector off while one of their trials runs, and here
	// one always does: beyond this heap it works nevertheless.
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(heapWhole))
	a := &loader{site: l.site, o: o, what: l.what, seq: p.Seq, most: mostInFlight(),
		chance: chanceOf(l.rec.Protocol.Seed, p.Seq)}
	l.observe(o, t, func() {
		if l.what.Rate > 0 {
			n := int(math.Ceil(l.what.Rate * l.what.For.Seconds()))
			a.probe(ctx, l.what.Rate, max(1, n), nil)
		} else {
			a.search(ctx)
		}
	})
	if ctx.Err() != nil {
		return nil, engine.Result{}, ctx.Err()
	}
	a.fill(t)
	return t, engine.Result{}, nil
}

// timePasses says whether a simulated engine's clock is the machine's.
func (l openLoop) timePasses(ctx context.Context, o *openEnv) bool {
	begin := stamp.Now()
	res, err := runGuarded(ctx, o.env, engine.Task{
		Name: "plimsoll-" + l.rec.ID + "-time", Argv: probe.PayloadArgs{Word: newWord()}.Argv(probePath), Limit: l.limit(),
	})
	at := res.Events[record.Request]
	return err == nil && begin <= at && at <= stamp.Now()
}

// fill writes the series. What it comes to is derived by whoever reads it.
func (l *loader) fill(t *record.Trial) {
	t.Remarks = append(t.Remarks, l.remarks...)
	l.site.keepSeries(t, record.LoadSamples, func(w io.Writer) error { return record.WriteLines(w, l.steps) })
	done := 0
	for _, p := range l.probes {
		done += p.Done
	}
	if done == 0 {
		t.Failure = cmp.Or(l.failure, &record.Failure{Class: record.Skipped, Text: "not one container was started"})
		return
	}
	for _, p := range l.probes {
		if p.Limit != nil {
			t.Remarks = append(t.Remarks, fmt.Sprintf("the load of %.3g containers a second ended after %d (%s): %s", p.Rate, p.Arrivals, p.Limit.Class, p.Limit.Text))
		}
		if p.LagNS > int64(10*time.Millisecond) {
			t.Remarks = append(t.Remarks, "Plimsoll itself handed over a container more than 10 ms late: the machine had no CPU left for it; the latencies include the delay")
			break
		}
	}
	if l.failure != nil {
		t.Remarks = append(t.Remarks, fmt.Sprintf("the first container that failed: %s, %s", l.failure.Class, l.failure.Text))
	}
}
