package fake

import (
	"time"

	"golang.org/x/sys/unix"
)

// clock is what a trial reads and what makes time pass, in ns.
type clock interface {
	stamp() int64
	pass(time.Duration)
	keep() // the trial is over
}

func (e *environment) clock() clock {
	if e.model.Sleep {
		return realClock{}
	}
	e.fake.mu.Lock()
	defer e.fake.mu.Unlock()
	return &virtual{fake: e.fake, now: e.fake.now}
}

// virtual goes on only when it is told to.
type virtual struct {
	fake *Fake
	now  int64
}

func (v *virtual) stamp() int64         { return v.now }
func (v *virtual) pass(d time.Duration) { v.now += int64(d) }

func (v *virtual) keep() {
	v.fake.mu.Lock()
	defer v.fake.mu.Unlock()
	v.fake.now = max(v.fake.now, v.now) + int64(time.Millisecond)
}

// realClock is CLOCK_MONOTONIC, and sleeps.
type realClock struct{}

func (realClock) stamp() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // can't fail for this clock
	return ts.Nano()
}
func (realClock) pass(d time.Duration) { time.Sleep(d) }
func (realClock) keep()                {}
