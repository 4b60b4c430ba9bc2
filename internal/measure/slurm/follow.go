package slurm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// Following is what is told while a job is followed. Its calls come from one
// goroutine.
type Following struct {
	// Changed is called when the job's state, or why it waits, is another.
	Changed func(Job)
	// Tick is called about once a second.
	Tick func()
	// Remark says what the user should know, as that Slurm does not answer.
	Remark func(string)
	// Ended says that the job's script has written down its end: Slurm is asked
	// at once then.
	Ended func() bool
}

// How often Slurm is asked: its controller is the whole site's. Soon after the
// job was submitted people look; later the record tells more than Slurm does.
const (
	tick     = time.Second
	askSoon  = 2 * time.Second
	askLater = 15 * time.Second
	soon     = time.Minute
	// askEnd is between questions once the script has ended, and writtenEnd how
	// long Slurm may take to see that.
	askEnd     = time.Second
	writtenEnd = 2 * time.Minute
)

// Follow asks for a job's state until it has ended, and gives it as it was
// last. It ends with ctx, and with nothing else: a controller that does not
// answer is asked again.
func (c *Client) Follow(ctx context.Context, id string, f Following) (Job, error) {
	begun := time.Now()
	var last Job
	var asked, ended time.Time
	silent := false
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		pause := askLater
		if time.Since(begun) < soon {
			pause = askSoon
		}
		if ended.IsZero() && f.Ended() {
			ended = time.Now()
		}
		if !ended.IsZero() {
			pause = askEnd
		}
		if time.Since(asked) >= pause {
			j, err := c.Job(ctx, id)
			asked = time.Now()
			switch {
			case ctx.Err() != nil:
				return last, ctx.Err()
			case errors.Is(err, ErrUnknown):
				// Whoever has run at all is known for some minutes: MinJobAge.
				last.ID, last.State = id, Forgotten
				return last, nil
			case err != nil:
				if !silent {
					f.Remark(fmt.Sprintf("Slurm does not answer (%v): it is asked again; the job goes on meanwhile", err))
				}
				silent = true
			default:
				if silent {
					f.Remark("Slurm answers again")
				}
				silent = false
				if j.State != last.State || j.Reason != last.Reason {
					f.Changed(j)
				}
				j.Nodes = cmp.Or(j.Nodes, last.Nodes)
				last = j
			}
			if last.State.Over() {
				return last, nil
			}
		}
		if !ended.IsZero() && time.Since(ended) > writtenEnd {
			return last, nil // Slurm is late, and the script's own word counts
		}
		f.Tick()
		select {
		case <-ctx.Done():
			return last, ctx.Err()
		case <-t.C:
		}
	}
}
