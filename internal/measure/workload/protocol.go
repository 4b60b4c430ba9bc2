package workload

import "time"

// Density is a ramp: one more container as soon as the last is ready, up to
// Count, then down one after the other.
type Density struct {
	Count int
	// TouchBytes is what each payload touches of memory before it is ready.
	TouchBytes int64
	// Background lets engines take part that can't detach: a process of ours
	// holds each of their containers. It is a mode of its own, and named.
	Background bool
	// Rest is how long all of them run idle at the top.
	Rest time.Duration
}

// LeastMemory is a search for the least memory limit at which a container still
// starts, downwards from From.
type LeastMemory struct {
	From int64 // bytes; a start with it must succeed
	// BusyBox: its echo says the trial's word in place of our own payload.
	BusyBox bool
}

// Load is an open loop: short-lived containers are requested at intended
// times, whether or not earlier ones have ended, and each latency counts from
// the intended time.
type Load struct {
	// Rate is the arrivals a second; 0 looks for the highest rate that holds Tail.
	Rate float64
	// Poisson: exponential gaps (drawn from the trial's seed) instead of equal ones.
	Poisson bool
	For     time.Duration
	// Tail is the bound on the latency's quantile Quantile, for the search.
	Tail     time.Duration
	Quantile float64
}
