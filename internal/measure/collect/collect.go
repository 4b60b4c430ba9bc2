//go:build linux

package collect

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine"
)

// Options say how to sample.
type Options struct {
	// Interval is the time between two samples; 0 means 100 ms. It is at
	// least 5 ms.
	Interval time.Duration
	// Processes are what all engines run beside payloads.
	Processes engine.Processes

	// root is what tests read instead of the live machine's files.
	root string
}

// The default interval, and the least.
const (
	defaultInterval = 100 * time.Millisecond
	leastInterval   = 5 * time.Millisecond
)

// Collector samples for any number of watches at once. While nothing is
// watched, it sleeps.
type Collector struct {
	beat   beat // under mu, but for the interval
	m      *machine
	poll   *os.File // epoll: the timer, and a pidfd for each payload
	pollFD int
	timer  int // timerfd
	ended  chan struct{}

	mu      sync.Mutex // over what follows
	buf     []byte
	finder  *finder
	host    *panel
	own     *panel
	daemons []*daemon
	watches []*Watch
	// launchers are ours: what they start are command lines.
	launchers []int
	serial    int32
	missed    int64
	spent     int64 // CPU time that sampling took, ns
	closed    bool
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
	o.Interval = cmp.Or(o.Interval, defaultInterval)
	c := &Collector{beat: beat{interval: int64(max(o.Interval, leastInterval))}, buf: make([]byte, scratchSize), ended: make(chan struct{}), pollFD: -1, timer: -1}
	defer func() {
		if err != nil {
			c.release()
		}
	}()
	if c.m, err = newMachine(o.root, o.Processes); err != nil {
		return nil, err
	}
	if c.finder, err = newFinder(c.m); err != nil {
		return nil, err
	}
	if c.pollFD, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, err
	}
	if err = unix.SetNonblock(c.pollFD, true); err != nil { // so that Go's poller takes it
		return nil, err
	}
	c.poll = os.NewFile(uintptr(c.pollFD), "epoll")
	if c.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK); err != nil {
		return nil, err
	}
	if err = unix.EpollCtl(c.pollFD, unix.EPOLL_CTL_ADD, c.timer, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: markTimer}); err != nil {
		return nil, err
	}
	c.host, c.own = newPanel(Host), newPanel(Own)
	t := &target{m: c.m, own: &c.spent}
	c.host.open(t)
	c.own.open(t)
	go c.run()
	return c, nil
}

// markTimer is what an event of the timer bears; others bear a watch's number.
const markTimer int32 = -1

// run waits for the timer and for payloads' ends. It waits in Go's own poller:
// a goroutine that blocks in a system call of its own keeps the scheduler's
// monitor awake, which costs more than the sampling.
func (c *Collector) run() {
	defer close(c.ended)
	conn, err := c.poll.SyscallConn()
	if err != nil {
		return // closed before it began
	}
	events := make([]unix.EpollEvent, 64)
	for {
		n := 0
		err := conn.Read(func(fd uintptr) bool {
			n = pollNow(int(fd), events)
			return n > 0
		})
		if err != nil {
			return // Close has closed it
		}
		c.handle(events[:n])
	}
}

// handle does what is due, on one thread, whose CPU time is ours.
func (c *Collector) handle(events []unix.EpollEvent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.account()()
	var expired [8]byte
	for _, e := range events {
		if e.Fd != markTimer {
			c.payloadEnded(e.Fd)
			continue
		}
		if readNow(c.timer, expired[:]) == len(expired) {
			c.tick(int64(binary.NativeEndian.Uint64(expired[:])))
		}
	}
}

// account adds the CPU time until its end to what sampling has cost.
func (c *Collector) account() (end func()) {
	runtime.LockOSThread()
	before := threadCPU()
	return func() {
		c.spent += threadCPU() - before
		runtime.UnlockOSThread()
	}
}

// tick takes a sample for every watch; periods is how many intervals have gone
// by since the last one.
func (c *Collector) tick(periods int64) {
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
	c.host.sample(at, &c.beat, h, c.buf)
	c.own.sample(at, &c.beat, h, c.buf)
	for _, d := range c.daemons {
		if d.watched > 0 {
			d.panel.sample(at, &c.beat, h, c.buf)
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
		if fresh && len(argv) == 0 && c.isClient(pid) {
			for _, w := range c.watches {
				w.tookClient(pid)
			}
		}
		return !slices.ContainsFunc(c.watches, (*Watch).misses)
	})
}

// isClient says whether a new process is a command line of ours: we, a
// launcher of ours, or another such one has started it.
func (c *Collector) isClient(pid int) bool {
	if !slices.ContainsFunc(c.watches, func(w *Watch) bool { return w.wants[Client] }) {
		return false
	}
	st, ok := c.m.stat(pid, c.buf)
	if !ok {
		return false
	}
	parent := int(st.parent)
	if parent == os.Getpid() && c.m.isLauncher(pid, c.buf) {
		c.launchers = append(c.launchers, pid)
		return false
	}
	return parent == os.Getpid() || slices.Contains(c.launchers, parent) ||
		slices.ContainsFunc(c.watches, func(w *Watch) bool { return w.clientSet.has(parent) })
}

// begin gets ready for the first of some watches.
func (c *Collector) begin() {
	c.finder.begin(c.buf)
	c.launchers = slices.DeleteFunc(c.m.children(os.Getpid()), func(pid int) bool { return !c.m.isLauncher(pid, c.buf) })
	c.arm(true)
}

// payloadEnded reads a payload's counters once more before the engine removes
// them.
func (c *Collector) payloadEnded(serial int32) {
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
		spec.Interval = unix.NsecToTimespec(c.beat.interval)
		spec.Value = spec.Interval
	}
	_ = unix.TimerfdSettime(c.timer, 0, &spec, nil) // its arguments are right
}

// Close ends the sampling. Watches that are not ended get no more samples.
func (c *Collector) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	c.mu.Unlock()
	err := c.poll.Close() // ends the wait in run
	<-c.ended
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pollFD = -1
	for _, w := range c.watches {
		w.close()
	}
	c.watches = nil
	c.release()
	if err != nil {
		return fmt.Errorf("ending the sampling: %w", err)
	}
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
	for _, fd := range []int{c.pollFD, c.timer} {
		if fd >= 0 {
			_ = unix.Close(fd) // nothing is written to it
		}
	}
}
