package run

import (
	"cmp"

	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// clockOf decides from the rounds of an exchange whose clock the container
// has. Each round bounds the difference between the clocks, d = inside − host,
// by the order of its three stamps: inside − received ≤ d ≤ inside − sent. The
// host's own clock has d = 0, so it is shared only if 0 lies in every bound.
// A clock that differs by less than the quickest round trip can't be told
// from the host's, and does not falsify a time by more than that.
func clockOf(rounds []probe.Exchange) record.Clock {
	if len(rounds) == 0 {
		return ""
	}
	for _, x := range rounds {
		if x.Inside < x.Sent || x.Inside > x.Received {
			return record.ClockForeign
		}
	}
	return record.ClockShared
}

// ordered says whether the inside stamps of a trial fit between the outside
// ones, as they must where the clock is shared.
func ordered(ev map[record.Event]int64) bool {
	first, ok := ev[record.First]
	if !ok {
		return false
	}
	if first < ev[record.Request] {
		return false
	}
	if ready, ok := ev[record.Ready]; ok && first > ready {
		return false
	}
	done, ok := ev[record.Done]
	if !ok {
		return true
	}
	if done < first {
		return false
	}
	exit := cmp.Or(ev[record.Exit], ev[record.Removed])
	return exit == 0 || done <= exit
}
