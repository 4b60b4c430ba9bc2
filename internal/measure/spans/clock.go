//go:build linux

package spans

import "golang.org/x/sys/unix"

// clock is how far the clock of spans, CLOCK_REALTIME, is ahead of CLOCK_MONOTONIC.
type clock struct {
	ahead int64
	// worst is what a time may be wrong by that was put from one onto the other: half of
	// the time that comparing them took, and what the one has drifted, or was set, between
	// two looks.
	worst int64
	known bool
}

// exchanges is how often they are compared; the quickest one counts.
const exchanges = 8

func (c *clock) look() {
	var ahead, half int64
	for i := range exchanges {
		before, real, after := now(unix.CLOCK_MONOTONIC), now(unix.CLOCK_REALTIME), now(unix.CLOCK_MONOTONIC)
		if h := (after - before + 1) / 2; i == 0 || h < half {
			ahead, half = real-(before+h), h
		}
	}
	if c.known {
		half += max(ahead-c.ahead, c.ahead-ahead)
	}
	c.ahead, c.worst, c.known = ahead, max(c.worst, half), true
}

func now(of int32) int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(of, &ts) // can't fail
	return ts.Nano()
}
