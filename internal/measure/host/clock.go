//go:build linux

package host

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// monotonicClock proves that CLOCK_MONOTONIC can time something: its grain is
// at most 1 µs, it does not run backwards, and it moves.
func monotonicClock() error {
	var res, a, b unix.Timespec
	if err := unix.ClockGetres(unix.CLOCK_MONOTONIC, &res); err != nil {
		return fmt.Errorf("asking for its grain: %w", err)
	}
	if res.Nano() > 1000 {
		return fmt.Errorf("its grain is %d ns", res.Nano())
	}
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &a); err != nil {
		return fmt.Errorf("reading it: %w", err)
	}
	first, last := a.Nano(), a.Nano()
	for range 1000 {
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &b); err != nil {
			return fmt.Errorf("reading it: %w", err)
		}
		if b.Nano() < last {
			return fmt.Errorf("it went backwards by %d ns", last-b.Nano())
		}
		last = b.Nano()
	}
	if last == first {
		return fmt.Errorf("it stood still over 1000 readings")
	}
	return nil
}
