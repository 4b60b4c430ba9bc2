package docker

import (
	"runtime/debug"
	"sync"

	"golang.org/x/sys/unix"
)

// now is CLOCK_MONOTONIC in nanoseconds: the clock of the launcher and of the
// payload.
func now() int64 {
	var ts unix.Timespec
	// It can fail only for a clock that the kernel lacks.
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return ts.Nano()
}

// collector keeps Go's garbage collector out of the trials that are timed in
// this process. The setting is the whole process's, hence the count.
var collector struct {
	sync.Mutex
	trials  int
	percent int
}

// quiet stops collecting until the function that it returns is called.
// SetGCPercent waits for a collection under way, so that none runs when quiet
// has returned. A trial makes a few hundred kilobytes of garbage; a memory
// limit (GOMEMLIMIT) still collects.
func quiet() (restore func()) {
	collector.Lock()
	defer collector.Unlock()
	if collector.trials++; collector.trials == 1 {
		collector.percent = debug.SetGCPercent(-1)
	}
	return func() {
		collector.Lock()
		defer collector.Unlock()
		if collector.trials--; collector.trials == 0 {
			debug.SetGCPercent(collector.percent)
		}
	}
}
