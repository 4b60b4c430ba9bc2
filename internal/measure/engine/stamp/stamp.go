// Package stamp has what adapters of engines with an API share when they time
// their own calls: the clock, a quiet garbage collector, and a stream whose
// first byte is stamped.
//
// It is opinionated: the clock is the launcher's and the payload's, and the
// caller's thread is its own between the stamps.
package stamp

import (
	"runtime"
	"runtime/debug"
	"sync"
)

// collector counts who wants it off, since the setting is the whole process's.
var collector struct {
	sync.Mutex
	trials  int
	percent int
}

// Quiet gives the goroutine a thread of its own and stops collecting garbage
// until the function that it returns is called, by the same goroutine. A
// memory limit (GOMEMLIMIT) still collects.
func Quiet() (restore func()) {
	collector.Lock()
	defer collector.Unlock()
	if collector.trials++; collector.trials == 1 {
		// This waits for a collection that is under way.
		collector.percent = debug.SetGCPercent(-1)
	}
	runtime.LockOSThread()
	return func() {
		runtime.UnlockOSThread()
		collector.Lock()
		defer collector.Unlock()
		if collector.trials--; collector.trials == 0 {
			debug.SetGCPercent(collector.percent)
		}
	}
}
