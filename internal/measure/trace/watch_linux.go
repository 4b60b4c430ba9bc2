package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// watch listens meanwhile, on a thread of its own, and gives what ends it.
func (g *gathering) watch() (end func() error, err error) {
	if r := g.recorder; r.switches != nil && len(r.heralds) == 0 {
		return g.lookIn(), nil
	}
	return g.poll()
}

// patience is between two looks at buffers that wake nobody, in ms.
const patience = 100

// lookIn listens now and then, since what programs in the kernel write wakes nobody. In
// between its thread waits as Go's scheduler has threads wait. One that waits in a system
// call keeps the right to run Go code, of which there are as many as processors, until
// the scheduler next looks after it, up to 10 ms later; an adapter with a thread that waits
// like that too then asked for the start so much later, only because it was followed.
func (g *gathering) lookIn() (end func() error) {
	quit, ready := make(chan struct{}), make(chan int)
	var done sync.WaitGroup
	done.Go(func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		ready <- unix.Gettid()
		tick := time.NewTicker(patience * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				g.listen()
			}
		}
	})
	g.watcher = <-ready
	return func() error {
		close(quit)
		done.Wait()
		return nil
	}
}

// poll listens whenever a buffer has become half full, or a program was executed whose
// command line no program in the kernel copies, on a thread that sleeps in the kernel
// otherwise: a clock of ours would take part in what is followed.
func (g *gathering) poll() (end func() error, err error) {
	quit, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("making what ends the watching: %w", err)
	}
	fds := []unix.PollFd{{Fd: int32(quit), Events: unix.POLLIN}} //nolint:gosec // a descriptor is small
	for _, ring := range g.recorder.all() {
		fds = append(fds, unix.PollFd{Fd: int32(ring.fds[0]), Events: unix.POLLIN}) //nolint:gosec // a descriptor is small
	}
	timeout := -1
	if len(g.recorder.logs()) > 0 {
		timeout = patience
	}
	var done sync.WaitGroup
	ready := make(chan int)
	done.Go(func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		ready <- unix.Gettid()
		for {
			if _, err := unix.Poll(fds, timeout); err != nil && !errors.Is(err, unix.EINTR) {
				return // the rest is read at the end
			}
			if fds[0].Revents != 0 {
				return
			}
			g.listen()
		}
	})
	g.watcher = <-ready
	return func() error {
		_, err := unix.Write(quit, binary.NativeEndian.AppendUint64(nil, 1))
		done.Wait()
		return errors.Join(err, unix.Close(quit))
	}, nil
}
