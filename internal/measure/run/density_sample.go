package run

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// sampleEvery is how often the machine's memory is read while a ramp is under way. A
// start of a fifth of a second has four samples then, and sampling takes half a
// hundredth of a processor on a machine that has two.
const sampleEvery = 50 * time.Millisecond

// The kernel tells of each processor's own list in each zone, with the zone locked, so on
// a machine of many processors a reading takes longer. Readings may take one part in
// sampleShare of a processor, and now and then what they have saved in sampleCredit.
const (
	sampleShare  = 100
	sampleCredit = time.Second
)

// pace is of readings that are not to take more than their share.
type pace struct {
	paid    time.Time // when the readings so far will have had no more than their share
	n, late int       // readings, and those that the next one had to wait for
	took    time.Duration
}

// next says when to read again after a reading that took so much CPU time.
func (p *pace) next(begun time.Time, took time.Duration) time.Time {
	if earliest := begun.Add(-sampleCredit); p.paid.Before(earliest) {
		p.paid = earliest
	}
	p.paid = p.paid.Add(sampleShare * took)
	p.n, p.took = p.n+1, p.took+took
	at := begun.Add(sampleEvery)
	if p.paid.After(at) {
		p.late++
		return p.paid
	}
	return at
}

// sample reads the machine's memory until it is ended: what a start or a stop takes
// only while it lasts is given back before a step looks.
func (a *ramp) sample() (end func()) { return a.sampleBy(notFree) }

func (a *ramp) sampleBy(read func() (taken int64, ok bool)) (end func()) {
	if a.o.virtual {
		return func() {}
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	var p pace
	began := time.Now()
	go func() {
		defer close(ended)
		runtime.LockOSThread() // whose CPU time is looked at
		defer runtime.UnlockOSThread()
		for {
			begun, before := time.Now(), threadTime()
			if taken, ok := read(); ok {
				a.samples = append(a.samples, record.DensityStep{Phase: record.RampSample, At: stamp.Now(), Memory: &record.Memory{Free: &taken}})
			}
			select {
			case <-time.After(time.Until(p.next(begun, threadTime()-before))):
			case <-stop:
				return
			}
		}
	}()
	return func() {
		close(stop)
		<-ended
		if 2*p.late > p.n {
			each := time.Since(began) / time.Duration(p.n)
			a.remark(fmt.Sprintf("the machine's memory was read every %d ms, not every %d: a reading takes %.3g ms of a processor, and all of them may take a hundredth of one; a shorter spike may be unseen",
				each.Milliseconds(), sampleEvery.Milliseconds(), float64(p.took)/float64(p.n)/1e6))
		}
	}
}

// threadTime is the CPU time of the calling thread.
func threadTime() time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts) // every kernel that we run on has this clock
	return time.Duration(ts.Nano())
}

// notFree is what is not free on the machine, without what this process has of its
// own. It takes the resident set for that: a proportional one takes milliseconds.
func notFree() (int64, bool) {
	info, err := readMeminfo(proc.Here)
	if err != nil || info.Free <= 0 {
		return 0, false
	}
	self, err := procfs.Self()
	if err != nil {
		return 0, false
	}
	stat, err := self.Stat()
	if err != nil {
		return 0, false
	}
	return info.Total - info.Free - int64(stat.ResidentMemory()), true
}

// inOrder are the steps and the samples in the order of time; a sample has as many
// containers as the step before it.
func (a *ramp) inOrder() []record.DensityStep {
	out := slices.Concat(a.steps, a.samples)
	slices.SortStableFunc(out, func(x, y record.DensityStep) int { return cmp.Compare(x.At, y.At) })
	n := 0
	for i := range out {
		if out[i].Phase == record.RampSample {
			out[i].N = n
		}
		n = out[i].N
	}
	return out
}
