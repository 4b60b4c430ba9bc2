//go:build linux

package agent

import (
	"context"

	"golang.org/x/sys/unix"

	"plimsoll/internal/record"
)

// now is CLOCK_MONOTONIC, ns: the clock of a trial's events.
func now() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // can't fail
	return ts.Nano()
}

// exchanges is how often the clocks are compared; the quickest one counts.
const exchanges = 8

// compare measures how far another clock is from ours. An answer was given at
// some moment between our question and its arrival: in the middle, to half the
// round trip, which is therefore what the offset may be wrong by (Cristian 1989).
func compare(ctx context.Context, ask func(context.Context) (int64, error)) (record.ClockOffset, error) {
	var best record.ClockOffset
	for i := range exchanges {
		before := now()
		there, err := ask(ctx)
		after := now()
		if err != nil {
			return best, err
		}
		if half := (after - before + 1) / 2; i == 0 || half < best.UncertaintyNS {
			best = record.ClockOffset{AtNS: before + half, OffsetNS: there - (before + half), UncertaintyNS: half}
		}
	}
	return best, nil
}
