package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/measure/host"
)

// waiter is a place in the queue for the machine: host.Queue.
type waiter interface {
	Lock() (unlock func(), beside *host.BusyError, err error)
	Join() error
	Leave()
}

// queue is how the turn is taken: tests of simulated engines, which measure
// nothing of this machine, take one of their own.
var queue = func(root bool, getenv func(string) string, study string) (waiter, error) {
	return host.NewQueue(root, getenv, study)
}

// Turn takes the machine's turn to measure: until unlock nobody else does. Who waits
// for it has it in the order of coming, and who does not wait is refused meanwhile.
func (o *Options) Turn(ctx context.Context) (unlock func(), err error) {
	const again = 100 * time.Millisecond
	study := ""
	if o.Plan != nil {
		study = o.Plan.Study.Name
	}
	q, err := queue(o.Root, o.Getenv, study)
	if err != nil {
		return nil, err
	}
	defer q.Leave()
	told := ""
	for {
		if o.Wait {
			if err := q.Join(); err != nil {
				return nil, err
			}
		}
		var beside *host.BusyError
		unlock, beside, err = q.Lock()
		if beside != nil && o.Progress != nil {
			o.Progress.Remark(fmt.Sprintf("an ordinary user's Plimsoll is measuring at the same time (process %d holds %s): each disturbs the other's numbers", beside.PID, harmless.Text(beside.File)))
		}
		var busy *host.BusyError
		if !o.Wait || !errors.As(err, &busy) {
			return unlock, err
		}
		if now := waitingFor(busy); now != told && o.Progress != nil {
			told = now
			o.Progress.Remark(now)
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

// waitingFor says who has the machine, and how many have it before us.
func waitingFor(busy *host.BusyError) string {
	text := "waiting for the machine: measured on by " + harmless.Text(busy.Who())
	if busy.Waits {
		text = "waiting for the machine: next is " + harmless.Text(busy.Who())
	}
	switch busy.Before {
	case 0:
		return text + "; we are next"
	case 1:
		return text + "; 1 waits before us"
	}
	return fmt.Sprintf("%s; %d wait before us", text, busy.Before)
}
