package trace

import (
	"time"

	"golang.org/x/sys/unix"
)

// ownTime is the processor time of this thread.
func ownTime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		panic(err)
	}
	return time.Duration(ts.Nano())
}
