package run

import (
	"context"
	"math"
	"sync"
	"testing"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/fake"
	"plimsoll/internal/record"
	openloop "plimsoll/internal/understand/analyze/load"
)

// loadSeries reads a trial's open loop.
func loadSeries(t *testing.T, dir string, tr record.Trial, search bool) *openloop.OpenLoop {
	t.Helper()
	return openloop.ReadLoad(series[record.LoadStep](t, dir, tr), search)
}

// stalling is the fake behind a gate that holds whoever asks for a container.
type stalling struct {
	*fake.Fake
	gate func()
}

func (s stalling) Info() engine.Info {
	i := s.Fake.Info()
	i.Name = "stalling"
	return i
}

func (s stalling) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	env, err := s.Fake.Open(ctx, kit, spec)
	return stallingEnv{env, s.gate}, err
}

type stallingEnv struct {
	engine.Environment
	gate func()
}

func (e stallingEnv) Run(ctx context.Context, task engine.Task) (engine.Result, error) {
	e.gate()
	return e.Environment.Run(ctx, task)
}

// Latency counts from the intended start: those that had to wait while the
// engine stalled show it, though each of them took no longer than the others
// once it was begun. A closed loop would have asked for one container and seen
// one long time.
func TestLoadContainsQueueing(t *testing.T) {
	if testing.Short() {
		t.Skip("measures this machine: left out with -short")
	}
	once(t, func(c *checks) { loadContainsQueueing(t, c) })
}

func loadContainsQueueing(t *testing.T, c *checks) {
	t.Helper()
	const stall, from, rate = 600 * time.Millisecond, 500 * time.Millisecond, 100
	var first sync.Once
	var begin time.Time
	gate := func() {
		first.Do(func() { begin = time.Now() })
		if since := time.Since(begin); since > from && since < from+stall {
			time.Sleep(from + stall - since)
		}
	}
	o := protocolOf(t, "  - {name: load, parameters: {rate: \"100\", seconds: \"2\"}}\n", "  - {engine: stalling, runtime: sleeping}\n", stalling{fake.New(), gate})
	for _, tr := range carried(t, o) {
		if !tr.OK() {
			t.Fatalf("%+v", tr.Failure)
		}
		l := loadSeries(t, o.Dir, tr, false)
		// One in rate·stall of all arrivals waited, on average half of the stall.
		waited := 0
		for _, v := range l.Latency {
			if v > float64(100*time.Millisecond) {
				waited++
			}
		}
		c.near("how many waited longer than 100 ms", float64(waited), float64(rate)*(stall-80*time.Millisecond).Seconds(), 0.2)
		c.near("the longest", l.Latency[len(l.Latency)-1], float64(stall), 0.15)
		if p95 := tr.Values["latency-p95"]; p95 < 0.4*float64(stall) {
			c.failf("p95 is %v: the queueing is not in it", time.Duration(p95))
		}
		if p50 := tr.Values["latency-p50"]; p50 > 0.2*float64(stall) {
			c.failf("the median is %v", time.Duration(p50))
		}
		if q := tr.Values["in-flight"]; q < 40 {
			c.failf("the longest queue was %v", q)
		}
		c.near("the achieved rate", tr.Values["achieved-rate"], rate, 0.1)
		if _, ok := tr.Values["latency-p99"]; ok {
			t.Error("200 arrivals carry a p99")
		}
	}
}

// The highest rate of an engine that creates one container at a time, in
// 10 ms, lies below 100 a second.
func TestLoadSearch(t *testing.T) {
	if testing.Short() {
		t.Skip("measures this machine: left out with -short")
	}
	once(t, func(c *checks) {
		o := protocolOf(t, "  - {name: load, parameters: {rate: search, seconds: \"1\", tail: 100ms, quantile: \"0.9\"}}\n", fakes("serial"), fake.New())
		for _, tr := range carried(t, o) {
			if !tr.OK() {
				t.Fatalf("%+v", tr.Failure)
			}
			holds, fails := tr.Values["max-rate"], tr.Values["max-rate-fails"]
			if holds < 50 || fails > 130 || fails <= holds || fails/holds > 1.11 {
				c.failf("the rate lies in [%v, %v]; %v", holds, fails, tr.Remarks)
			}
			if l := loadSeries(t, o.Dir, tr, true); l.Holds != holds || len(l.Latency) == 0 || tr.Values["latency-p50"] > 1e8 {
				c.failf("%+v", tr.Values)
			}
		}
	})
}

// A rate far beyond what the engine carries ends at the bound, and says so.
func TestLoadOverload(t *testing.T) {
	slow := stalling{fake.New(), func() { time.Sleep(400 * time.Millisecond) }}
	o := protocolOf(t, "  - {name: load, parameters: {rate: \"2000\", seconds: \"1\"}}\n", "  - {engine: stalling, runtime: sleeping}\n", slow)
	for _, tr := range carried(t, o) {
		l := loadSeries(t, o.Dir, tr, false)
		if !tr.OK() || l.Refused != 1 || l.Probes[0].Limit == nil || l.Probes[0].Limit.Class != record.LimitInFlight {
			t.Errorf("%+v %+v", tr.Failure, l.Probes)
		}
		if l.MaxInFlight != mostInFlight() || len(tr.Remarks) == 0 {
			t.Errorf("%d in flight, remarks %v", l.MaxInFlight, tr.Remarks)
		}
	}
}

// Failures are counted by their class and enter no time.
func TestLoadFailures(t *testing.T) {
	o := protocolOf(t, "  - {name: load, parameters: {rate: \"200\", seconds: \"1\"}}\n", "  - {engine: half, runtime: sleeping}\n", half())
	for _, tr := range carried(t, o) {
		l := loadSeries(t, o.Dir, tr, false)
		if !tr.OK() || l.Classes[record.Crash] != 100 || l.Done != 100 || tr.Values["failed-share"] != 0.5 {
			t.Errorf("%+v: %v of %d done, %v", tr.Failure, l.Classes, l.Done, tr.Values)
		}
		if _, ok := tr.Values["latency-p95"]; ok {
			t.Error("half of the arrivals never came, and there is a p95")
		}
		if !math.IsInf(l.Latency[len(l.Latency)-1], 1) {
			t.Error("a failure has a latency")
		}
	}
}

// half is an engine of which every other container crashes.
func half() spoiled {
	var mu sync.Mutex
	n := 0
	return spoiled{Fake: fake.New(), name: "half", fault: func(_ context.Context, _ engine.Task, res engine.Result) (engine.Result, error) {
		mu.Lock()
		defer mu.Unlock()
		if n++; n%2 == 0 {
			res.Failure = &record.Failure{Class: record.Crash, Text: "signal 11"}
		}
		return res, nil
	}}
}

// Arrivals follow from the seed: constant ones at equal gaps, those of a
// Poisson process with gaps whose mean and spread are the same.
func TestArrivals(t *testing.T) {
	l := &loader{}
	even := l.arrivals(7, 50, 4)
	for i, at := range even {
		if at != 7+int64(i)*20_000_000 {
			t.Errorf("arrival %d is at %d", i, at)
		}
	}
	l.what.Poisson = true
	l.chance = chanceOf(3, 4)
	a := l.arrivals(0, 1000, 20_001)
	l.chance = chanceOf(3, 4)
	if b := l.arrivals(0, 1000, 20_001); b[20_000] != a[20_000] {
		t.Error("the same seed gives other arrivals")
	}
	sum, squares := 0.0, 0.0
	for i := 1; i < len(a); i++ {
		gap := float64(a[i] - a[i-1])
		sum += gap
		squares += gap * gap
	}
	mean := sum / 20_000
	near(t, "the mean gap", mean, 1e6, 0.03)
	near(t, "its spread", math.Sqrt(squares/20_000-mean*mean), 1e6, 0.05)
}

func TestEnough(t *testing.T) {
	for q, want := range map[float64]int{0.5: 6, 0.95: 72, 0.99: 368} {
		if n := enough(q); n != want {
			t.Errorf("the quantile %v needs %d, want %d", q, n, want)
		}
	}
}
