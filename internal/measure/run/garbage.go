package run

import (
	"runtime"
	"runtime/debug"
)

// collectAt is the growth of the heap after which garbage is collected
// between two trials. While a trial runs the collector is off.
const collectAt = 16 << 20

// between collects garbage between trials, where there is some.
func (s *site) between() {
	s.sinceGC++
	if s.sinceGC < 16 { // reading the statistics is not free either
		return
	}
	s.sinceGC = 0
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > s.heapAfterGC+collectAt {
		runtime.GC()
		runtime.ReadMemStats(&m)
		s.heapAfterGC = m.HeapAlloc
	}
}

// collectorOff switches the collector off and gives what switches it on again.
func collectorOff() func() {
	runtime.GC()
	old := debug.SetGCPercent(-1)
	return func() { debug.SetGCPercent(old) }
}
