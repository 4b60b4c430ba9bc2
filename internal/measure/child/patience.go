package child

import (
	"context"
	"math"
	"sync/atomic"
	"time"
)

// Time limits are for machines on which a program starts within milliseconds. On a slower
// one, an emulated or a small one, they are stretched: as much as it is slower, or as much
// as the user says.

// soon is how long a machine whose limits are not stretched takes to start a program at
// most. Measured: 0.9 to 1.8 ms on servers, 6 to 10 in User-Mode Linux, 16 under QEMU's
// emulation.
const soon = 6 * time.Millisecond

// most bounds what is learnt: above it something else is wrong.
const most = 20

var patience atomic.Uint64 // the bits of a float64; 0: not known yet

// SetPatience multiplies time limits by n, at least 1, instead of what would be learnt.
func SetPatience(n float64) { patience.Store(math.Float64bits(max(n, 1))) }

// Stretch returns a time limit as this machine needs it.
func Stretch(limit time.Duration) time.Duration {
	if patience.Load() == 0 {
		patience.CompareAndSwap(0, math.Float64bits(learn()))
	}
	return time.Duration(float64(limit) * math.Float64frombits(patience.Load()))
}

// Within returns ctx with a time limit as this machine needs it.
func Within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, Stretch(limit))
}

// learn starts a program that does nothing a few times; the quickest counts, so that a
// machine that is busy for a moment is not taken for a slow one.
func learn() float64 {
	quickest := time.Duration(0)
	for range 5 {
		began := time.Now()
		if _, err := Run(context.Background(), Command{Argv: []string{"true"}}); err != nil {
			return 1 // there is no such program here
		}
		if took := time.Since(began); quickest == 0 || took < quickest {
			quickest = took
		}
	}
	return slower(quickest)
}

// slower returns the factor for a machine that takes so long to start a program.
func slower(quickest time.Duration) float64 {
	return min(max(float64(quickest)/float64(soon), 1), most)
}
