package run

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// bounds are what a search judges a rate by.
type bounds struct {
	tail     time.Duration
	quantile float64
}

// late says whether an arrival counts against the rate.
func (b *bounds) late(s *record.LoadStep) bool {
	return s.Refused || s.Class != "" || s.Ready-s.Intended > int64(b.tail)
}

// arrivals gives n intended times from the moment from on, ns.
func (l *loader) arrivals(from int64, rate float64, n int) []int64 {
	out := make([]int64, n)
	at := float64(0)
	for i := range out {
		out[i] = from + int64(at)
		gap := 1.0
		if l.what.Poisson {
			gap = l.chance.ExpFloat64()
		}
		at += gap * 1e9 / rate
	}
	return out
}

// lead is from the making of the plan to the first arrival.
const lead = 5 * time.Millisecond

// probe requests n containers at this rate, each at its time whatever became
// of the others, waits until all have ended and records them.
func (l *loader) probe(ctx context.Context, rate float64, n int, b *bounds) record.LoadProbe {
	plan := l.arrivals(stamp.Now()+int64(lead), rate, n)
	f := &flight{loader: l, bounds: b, steps: make([]record.LoadStep, n), probe: len(l.probes)}
	if b != nil {
		// So many late ones that the others can't make up for it.
		f.tooMany = int((1-b.quantile)*float64(n)) + 1
	}
	watch, stop := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { f.guard(watch) })
	f.dispatch(ctx, plan)
	f.running.Wait()
	stop()
	watching.Wait()
	sum := f.sum(rate)
	l.steps = append(l.steps, f.steps...)
	l.steps = append(l.steps, record.LoadStep{Probe: f.probe, Sum: &sum})
	l.probes = append(l.probes, sum)
	return sum
}

// flight is what is in the air during a probe.
type flight struct {
	*loader
	bounds  *bounds
	probe   int
	running sync.WaitGroup

	mu       sync.Mutex
	steps    []record.LoadStep
	inFlight int
	highest  int
	late     int
	tooMany  int // late arrivals after which the rate is lost; 0: none
	lag      int64
	limit    *record.Limit
}

// dispatch hands the containers over, each at its time.
func (f *flight) dispatch(ctx context.Context, plan []int64) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for i, at := range plan {
		sleepUntil(ctx, at)
		if ctx.Err() != nil || !f.launch(ctx, i, at) {
			f.mu.Lock()
			f.steps = f.steps[:i]
			f.mu.Unlock()
			return
		}
	}
}

// launch starts the i-th container, and says whether the probe goes on.
func (f *flight) launch(ctx context.Context, i int, intended int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.limit != nil || f.tooMany > 0 && f.late >= f.tooMany {
		return false
	}
	s := &f.steps[i]
	*s = record.LoadStep{Probe: f.probe, Intended: intended, InFlight: f.inFlight}
	if f.inFlight >= f.most {
		s.Refused = true
		f.limit = &record.Limit{Class: record.LimitInFlight, Used: int64(f.inFlight), Max: int64(f.most),
			Text: fmt.Sprintf("%d containers were on their way and the next one was due: the engine does not carry this rate", f.inFlight)}
		return true // so that it is counted; the next one sees the limit
	}
	f.inFlight++
	f.highest = max(f.highest, f.inFlight)
	f.started++
	name, word := member(fmt.Sprintf("plimsoll-%s-%d", f.site.rec.ID, f.seq), f.started), newWord()
	f.running.Go(func() { f.one(ctx, i, name, word) })
	return true
}

// one carries one container through its life.
func (f *flight) one(ctx context.Context, i int, name, word string) {
	handed := stamp.Now()
	res, err := runGuarded(ctx, f.o.env, engine.Task{
		Name: name, Argv: probe.PayloadArgs{Word: word}.Argv(probePath), Limit: f.site.limit(),
	})
	failure := unstarted(res, err, word)
	if failure == nil && (res.Events[record.Ready] == 0 || res.Events[record.Removed] == 0) {
		failure = &record.Failure{Class: record.HarnessError, Text: "the adapter did not stamp the container's life"}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inFlight--
	s := &f.steps[i]
	f.lag = max(f.lag, handed-s.Intended)
	s.Request = res.Events[record.Request]
	if failure != nil {
		s.Class = failure.Class
		if f.failure == nil && ctx.Err() == nil {
			f.failure = failure
		}
	} else {
		s.Ready, s.Removed = res.Events[record.Ready], res.Events[record.Removed]
	}
	if f.bounds != nil && f.bounds.late(s) {
		f.late++
	}
}

// guard watches the machine while containers run.
func (f *flight) guard(ctx context.Context) {
	if f.o.virtual {
		return
	}
	const period = 100 * time.Millisecond
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		l, err := guardIn(proc.Here, 0, guarded())
		if err != nil {
			continue
		}
		if l != nil {
			f.mu.Lock()
			f.limit = l
			f.mu.Unlock()
			return
		}
	}
}

// sum counts what came of it.
func (f *flight) sum(rate float64) record.LoadProbe {
	p := record.LoadProbe{Rate: rate, Arrivals: len(f.steps), MaxInFlight: f.highest, Limit: f.limit, LagNS: f.lag}
	var end int64
	for i := range f.steps {
		s := &f.steps[i]
		switch {
		case s.Refused:
			p.Refused++
		case s.Class != "":
			p.Failed++
		default:
			p.Done++
			end = max(end, s.Removed)
		}
		if f.bounds != nil && f.bounds.late(s) {
			p.Late++
		}
	}
	if p.Done > 0 {
		p.Achieved = float64(p.Done) / (float64(end-f.steps[0].Intended) / 1e9)
	}
	return p
}

// sleepUntil sleeps in the kernel, since time.Sleep may be a millisecond late;
// in slices, so that an interruption is noticed.
func sleepUntil(ctx context.Context, at int64) {
	const slice = int64(50 * time.Millisecond)
	for ctx.Err() == nil {
		now := stamp.Now()
		if now >= at {
			return
		}
		ts := unix.NsecToTimespec(min(at, now+slice))
		_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &ts, nil) // broken off by a signal: the loop goes on
	}
}
