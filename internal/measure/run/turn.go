package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/measure/host"
)

// lock is how the turn is taken: tests of simulated engines, which measure
// nothing of this machine, take one of their own.
var lock = host.Lock

// Turn takes the machine's turn to measure: until unlock nobody else does.
func (o *Options) Turn(ctx context.Context) (unlock func(), err error) {
	const again = 100 * time.Millisecond
	for {
		var beside *host.BusyError
		unlock, beside, err = lock(o.Root, o.Getenv)
		if beside != nil && o.Progress != nil {
			o.Progress.Remark(fmt.Sprintf("an ordinary user's Plimsoll is measuring at the same time (process %d holds %s): each disturbs the other's numbers", beside.PID, harmless.Text(beside.File)))
		}
		var busy *host.BusyError
		if !o.Wait || !errors.As(err, &busy) {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-o.Finish:
			return nil, err
		case <-time.After(again):
		}
	}
}
