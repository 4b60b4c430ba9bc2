package slurm

import (
	"context"
	"fmt"
	"regexp"
)

var runID = regexp.MustCompile(`^[a-z0-9]{8}$`)

// Name is what a run's jobs are called.
func Name(run string) string { return "plimsoll-" + run }

// Comment is what the comment of a run's jobs says.
func Comment(run string) string { return "plimsoll run " + run }

// NotOursError is a job that is not cancelled, since it can't be proved to be
// of the run.
type NotOursError struct {
	Job Job
	Run string
}

func (e *NotOursError) Error() string {
	return fmt.Sprintf("job %s is not proved to be of the run %s: its name is %q and its comment %q, expected %q and %q; look at it by `scontrol show job %s`, and cancel it by `scancel %s` where it is yours",
		e.Job.ID, e.Run, e.Job.Name, e.Job.Comment, Name(e.Run), Comment(e.Run), e.Job.ID, e.Job.ID)
}

// Ours says whether a job is proved to be of a run.
func (j Job) Ours(run string) bool { return j.Name == Name(run) && j.Comment == Comment(run) }

// End ends a job of a run, and no other. Where it runs, gently asks its script
// to end after the trial in flight; else it is cancelled, by Slurm's own way
// from SIGTERM to SIGKILL. A job that has ended is left as it is.
func (c *Client) End(ctx context.Context, id, run string, gently bool) error {
	j, err := c.Job(ctx, id)
	if err != nil {
		return fmt.Errorf("cancelling job %s: %w", id, err)
	}
	switch {
	case !j.Ours(run):
		return &NotOursError{Job: j, Run: run}
	case j.State.Over():
		return nil
	case gently && !j.State.Waits():
		_, err = c.run(ctx, "scancel", "--batch", "--signal=TERM", id)
	default:
		_, err = c.run(ctx, "scancel", id)
	}
	if err != nil {
		return fmt.Errorf("cancelling job %s: %w", id, err)
	}
	return nil
}
