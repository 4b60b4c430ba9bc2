package run

import (
	"cmp"
	"slices"
	"time"

	"github.com/prometheus/procfs"

	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// sampleEvery is how often the machine's memory is read while a ramp is under way. A
// start of a fifth of a second has four samples then, and sampling takes half a
// hundredth of a processor.
const sampleEvery = 50 * time.Millisecond

// sample reads the machine's memory until it is ended: what a start or a stop takes
// only while it lasts is given back before a step looks.
func (a *ramp) sample() (end func()) {
	if a.o.virtual {
		return func() {}
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(sampleEvery)
		defer tick.Stop()
		for {
			if taken, ok := notFree(); ok {
				a.samples = append(a.samples, record.DensityStep{Phase: record.RampSample, At: stamp.Now(), Memory: &record.Memory{Free: &taken}})
			}
			select {
			case <-tick.C:
			case <-stop:
				return
			}
		}
	}()
	return func() {
		close(stop)
		<-ended
	}
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
