//go:build linux

package host

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// Limit says what counts as calm.
type Limit struct {
	// Window is how long the machine is watched at first; 0 means 500 µs.
	Window time.Duration
	// Even is how many windows are as long as the first; 0 means it alone. Each
	// further one is twice as long as the one before, as far as Most; 0 means 4 ms.
	Even int
	Most time.Duration
	// Running is how many other threads may be runnable, on average over the
	// window's samples; 0 means 0.5, so that one passing kernel thread does
	// not count and a process that computes does.
	Running float64
	// Pressure is the share of the window for which somebody may wait for a
	// CPU; 0 means 0.1.
	Pressure float64
	// Wait is the longest wait in all; 0 means 200 ms.
	Wait time.Duration
}

func (l Limit) withDefaults() Limit {
	if l.Window <= 0 {
		l.Window = 500 * time.Microsecond
	}
	if l.Even <= 0 {
		l.Even = 1
	}
	if l.Most <= 0 {
		l.Most = 4 * time.Millisecond
	}
	if l.Running <= 0 {
		l.Running = 0.5
	}
	if l.Pressure <= 0 {
		l.Pressure = 0.1
	}
	if l.Wait <= 0 {
		l.Wait = 200 * time.Millisecond
	}
	return l
}

// Calm is the outcome of a wait.
type Calm struct {
	Waited  time.Duration
	Reached bool
	// Running and Pressure are those of the last window.
	Running  float64
	Pressure float64 // 0 where the kernel has no PSI
	seen     bool    // the run queue could be read: what was not seen is not calm
}

// Seen says whether the run queue could be read in the last window.
func (c Calm) Seen() bool { return c.seen }

// Quiet watches for the machine to be calm. One goroutine at a time may use it.
type Quiet struct {
	load *kfile
	cpu  *kfile // nil where the kernel has no PSI
	// Handed in by tests.
	now   func() time.Time
	sleep func(time.Duration)
}

// NewQuiet opens what is watched.
func (m Machine) NewQuiet() (*Quiet, error) {
	load, err := openKfile(m, "/proc/loadavg", 128)
	if err != nil {
		return nil, err
	}
	if load == nil {
		return nil, errors.New("watching for the machine to be calm: it has no /proc/loadavg")
	}
	cpu, err := openKfile(m, "/proc/pressure/cpu", 256)
	if err != nil {
		return nil, errors.Join(err, load.Close())
	}
	return &Quiet{load: load, cpu: cpu, now: time.Now, sleep: nap}, nil
}

// nap sleeps in the kernel: time.Sleep rounds up to the milliseconds of
// epoll_wait(2), which would make a window of half a millisecond one of eight.
func nap(d time.Duration) {
	if d <= 0 {
		return
	}
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&ts, nil) // broken off by a signal it is a little shorter
}

// samplesPerWindow is the number of looks at the run queue in a window. The
// count is of this instant only, so one look proves little.
const samplesPerWindow = 4

// Wait returns as soon as one whole window was calm, or when the limit's Wait
// is over or ctx ends, whichever is first. On a calm machine that is one
// window, plus what the timer is late.
func (q *Quiet) Wait(ctx context.Context, l Limit) Calm {
	l = l.withDefaults()
	begin := q.now()
	window := l.Window
	for n := 1; ; n++ {
		c := q.watch(window)
		c.Waited = q.now().Sub(begin)
		c.Reached = c.seen && c.Running <= l.Running && c.Pressure <= l.Pressure
		if c.Reached || ctx.Err() != nil || c.Waited+window > l.Wait {
			return c
		}
		// A busy machine is not made calmer by being looked at more often.
		if n >= l.Even {
			window = min(2*window, max(window, l.Most))
		}
	}
}

func (q *Quiet) watch(window time.Duration) Calm {
	from := q.now()
	before := q.cpu.total()
	var others, looks int64
	for look := range samplesPerWindow {
		// To the time of the look: each timer is late, and four in a row would make
		// the window longer by four times that.
		q.sleep(window*time.Duration(look+1)/samplesPerWindow - q.now().Sub(from))
		b, err := q.load.read()
		if err != nil {
			continue
		}
		if n, ok := parseRunning(b); ok {
			others += max(0, n-1) // the reader runs, too
			looks++
		}
	}
	var c Calm
	if looks > 0 {
		c.seen = true
		c.Running = float64(others) / float64(looks)
	}
	if took := q.now().Sub(from); took > 0 {
		c.Pressure = float64(grown(before, q.cpu.total())) / float64(took)
	}
	return c
}

// Close closes what was opened.
func (q *Quiet) Close() error { return errors.Join(q.load.Close(), q.cpu.Close()) }
