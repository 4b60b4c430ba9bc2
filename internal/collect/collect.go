//go:build linux

package collect

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Options say how to sample.
type Options struct {
	// Interval is the time between two samples; 0 means 100 ms. It is at
	// least 5 ms.
	Interval time.Duration

	// root is what tests read instead of the live machine's files.
	root string
}

// The default interval, and the least.
const (
	defaultInterval = 100 * time.Millisecond
	leastInterval   = 5 * time.Millisecond
)

// Collector samples for any number of watches at once, from one thread of its
// own. While nothing is watched, it sleeps.
type Collector struct {
	interval int64
	m        *machine
	poll     int // epoll: the timer, wake, and a pidfd for each payload
	timer    int // timerfd
	wake     int // eventfd: the thread is to end
	tid      int
	ended    chan struct{}

	mu      sync.Mutex // over what follows
	buf     []byte
	finder  *finder
	host    *panel
	own     *panel
	daemons []*daemon
	watches []*Watch
	serial  int32
	missed  int64
	closed  bool
}

// New makes a collector. Close it.
func New(o Options) (*Collector, error) {
	c, err := newCollector(o)
	if err != nil {
		return nil, fmt.Errorf("preparing to sample: %w", err)
	}
	return c, nil
}

func newCollector(o Options) (_ *Collector, err error) {
	if o.Interval == 0 {
		o.Interval = defaultInterval
	}
	c := &Collector{interval: int64(max(o.Interval, leastInterval)), buf: make([]byte, scratchSize), ended: make(chan struct{}), poll: -1, timer: -1, wake: -1}
	defer func() {
		if err != nil {
			c.release()
		}
	}()
	if c.m, err = newMachine(o.root); err != nil {
		return nil, err
	}
	if c.finder, err = newFinder(c.m); err != nil {
		return nil, err
	}
	if c.poll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, err
	}
	if c.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK); err != nil {
		return nil, err
	}
	if c.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return nil, err
	}
	for fd, mark := range map[int]int32{c.timer: markTimer, c.wake: markWake} {
		if err = unix.EpollCtl(c.poll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: mark}); err != nil {
			return nil, err
		}
	}
	tid := make(chan int)
	go c.run(tid)
	c.tid = <-tid
	c.host, c.own = newPanel(Host), newPanel(Own)
	t := &target{m: c.m, tid: c.tid}
	c.host.open(t)
	c.own.open(t)
	return c, nil
}

// What an event of the poll is about: these, or a watch's number, which is
// positive.
const (
	markTimer int32 = -1
	markWake  int32 = -2
)

// run is the sampling thread. It is a thread of its own so that what sampling
// costs can be told, and so that it never waits for the trial's goroutines.
func (c *Collector) run(tid chan<- int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(c.ended)
	tid <- unix.Gettid()
	events := make([]unix.EpollEvent, 64)
	var expired [8]byte
	for {
		n, err := unix.EpollWait(c.poll, events, -1)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return // the descriptor is gone: Close
		}
		for _, e := range events[:n] {
			switch e.Fd {
			case markWake:
				return
			case markTimer:
				if n, err := unix.Read(c.timer, expired[:]); err == nil && n == 8 {
					c.tick(int64(nativeEndian(expired)))
				}
			default:
				c.payloadEnded(e.Fd)
			}
		}
	}
}

// tick takes a sample for every watch; periods is how many intervals have gone
// by since the last one.
func (c *Collector) tick(periods int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.watches) == 0 {
		return
	}
	c.missed += periods - 1
	at := now()
	c.search(at)
	c.common(at, due)
	for _, w := range c.watches {
		w.sample(at, due)
	}
}

// common samples what all watches share: the host, our own thread, and the
// daemons of those that are watched.
func (c *Collector) common(at int64, h how) {
	c.host.sample(at, c.interval, h, c.buf)
	c.own.sample(at, c.interval, h, c.buf)
	for _, d := range c.daemons {
		if d.watched > 0 {
			d.panel.sample(at, c.interval, h, c.buf)
		}
	}
}

// search looks at new processes for those who still miss their payload, and
// for command lines of ours.
func (c *Collector) search(at int64) {
	if !slices.ContainsFunc(c.watches, (*Watch).searches) {
		return
	}
	c.finder.look(at, c.buf, func(pid int, fresh bool) bool {
		argv, alive := c.m.words(pid, c.buf)
		if !alive {
			return true
		}
		for _, w := range c.watches {
			if len(argv) > 0 && w.misses() && hasWord(argv, w.subject.Word) {
				w.found(c.m.topWithWord(pid, w.subject.Word, c.buf))
				return true
			}
		}
		if fresh && len(argv) == 0 {
			for _, w := range c.watches {
				w.maybeClient(pid)
			}
		}
		return !slices.ContainsFunc(c.watches, (*Watch).misses)
	})
}

// payloadEnded reads a payload's counters once more before the engine removes
// them.
func (c *Collector) payloadEnded(serial int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.watches {
		if w.serial == serial {
			w.last(now())
		}
	}
}

// arm sets the timer going, or stops it.
func (c *Collector) arm(on bool) {
	var spec unix.ItimerSpec
	if on {
		spec.Interval = unix.NsecToTimespec(c.interval)
		spec.Value = spec.Interval
	}
	_ = unix.TimerfdSettime(c.timer, 0, &spec, nil) // its arguments are right
}

// Close ends the thread. Watches that are not ended get no more samples.
func (c *Collector) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	c.mu.Unlock()
	one := [8]byte{1: 1} // any number but 0 wakes
	if _, err := unix.Write(c.wake, one[:]); err != nil {
		return fmt.Errorf("ending the sampling: %w", err)
	}
	<-c.ended
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.watches {
		w.close()
	}
	c.watches = nil
	c.release()
	return nil
}

func (c *Collector) release() {
	for _, p := range []*panel{c.host, c.own} {
		if p != nil {
			p.close()
		}
	}
	for _, d := range c.daemons {
		d.panel.close()
	}
	if c.finder != nil {
		c.finder.close()
	}
	for _, fd := range []int{c.poll, c.timer, c.wake} {
		if fd >= 0 {
			_ = unix.Close(fd) // nothing is written to it
		}
	}
}
