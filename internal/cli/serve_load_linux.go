package cli

import (
	"sync"
	"time"

	"plimsoll/internal/measure/host"
	"plimsoll/internal/understand/web"
)

// loadEvery is the least time that a reading of the machine's load is of.
const loadEvery = 900 * time.Millisecond

// meterLoad reads the load, once for all who ask at about the same time.
func meterLoad(m *host.Meter) func() (web.Load, bool) {
	var mu sync.Mutex
	var last web.Load
	var at time.Time
	ok := false
	return func() (web.Load, bool) {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(at) < loadEvery {
			return last, ok
		}
		at = time.Now()
		var b host.Busy
		b, ok = m.Read()
		last = web.Load{Busy: b.Busy, Steal: b.Steal, Running: b.Running}
		if b.Waiting >= 0 {
			last.Waiting = &b.Waiting
		}
		return last, ok
	}
}
