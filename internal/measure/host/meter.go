//go:build linux

package host

import (
	"errors"
	"time"
)

// Meter says how busy the machine is, from one reading to the next.
type Meter struct {
	stat, load, cpu *kfile
	ticks           cpuTicks
	waited          int64 // ns; below 0 where the kernel has no PSI
	at              time.Time
	now             func() time.Time
}

// Busy is how busy a machine was between two readings.
type Busy struct {
	// Busy and Steal are shares of all processors' time, from 0 to 1.
	Busy, Steal float64
	// Running threads run or want to, at this moment, without the reader.
	Running int64
	// Waiting is the share of time in which some thread waited for a processor;
	// below 0 where the kernel does not tell.
	Waiting float64
}

// NewMeter opens the kernel's files. The first reading tells of the time since.
func (m Machine) NewMeter() (*Meter, error) {
	t := &Meter{now: time.Now}
	var err error
	if t.stat, err = openKfile(m, "/proc/stat", 256); err != nil {
		return nil, err
	}
	if t.load, err = openKfile(m, "/proc/loadavg", 128); err != nil {
		_ = t.stat.Close() // it was only read
		return nil, err
	}
	if t.cpu, err = openKfile(m, "/proc/pressure/cpu", 256); err != nil {
		t.cpu = nil // it is the same as a kernel without it
	}
	t.Read()
	return t, nil
}

// Read gives what has been since the last reading; false where nothing can be
// told, as of too short a time.
func (t *Meter) Read() (b Busy, ok bool) {
	at := t.now()
	ticks, known := t.stat.ticks()
	waited := t.cpu.total()
	d, passed := ticks.minus(t.ticks), at.Sub(t.at)
	b.Waiting = -1
	if waited >= 0 && t.waited >= 0 && passed > 0 {
		b.Waiting = min(1, float64(grown(t.waited, waited))/float64(passed))
	}
	ok = known && d.total() > 0
	if ok {
		b.Busy, b.Steal = clamp(d.busy(), d.total()), clamp(d.Steal, d.total())
	}
	if t.load != nil {
		if text, err := t.load.read(); err == nil {
			n, _ := parseRunning(text)
			b.Running = max(0, n-1)
		}
	}
	t.ticks, t.waited, t.at = ticks, waited, at
	return b, ok
}

// clamp is a share; counters of the kernel may run backwards a little.
func clamp(part, of int64) float64 {
	return min(1, max(0, float64(part)/float64(of)))
}

// Close lets go of the files.
func (t *Meter) Close() error {
	return errors.Join(t.stat.Close(), t.load.Close(), t.cpu.Close())
}
