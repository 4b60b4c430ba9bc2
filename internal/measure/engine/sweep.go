package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Leftover is a thing of the ledger's that is still there, or of which nobody
// can tell.
type Leftover struct {
	Thing
	// Remove takes it away. It looks once more whether what is there is ours
	// (by its label, where it can have one), and what is not there is gone.
	Remove func(context.Context) error
	// Problem, in place of Remove: why nobody can tell, or why it is not
	// removed (an *Error with a Fix, where one is known).
	Problem error
}

// LookFor is Leftovers for an engine that is asked for one thing after the
// other: look says whether a thing is there and ours, and takeAway removes it. A
// place that could not be asked once is not asked again: a daemon may hang.
func LookFor(things []Thing, look func(Thing) (bool, error), takeAway func(context.Context, Thing) error) []Leftover {
	problem := map[string]error{} // by place
	return LookForEach(things, func(t Thing) (there bool, err error) {
		if err = problem[t.At]; err == nil {
			there, err = look(t)
			problem[t.At] = err
		}
		return there, err
	}, takeAway)
}

// LookForEach is LookFor for an engine without a daemon: what can't be asked of one
// thing may be asked of the next.
func LookForEach(things []Thing, look func(Thing) (bool, error), takeAway func(context.Context, Thing) error) []Leftover {
	var left []Leftover
	for _, t := range things {
		there, err := look(t)
		switch {
		case err != nil:
			left = append(left, Leftover{Thing: t, Problem: err})
		case there:
			left = append(left, Leftover{Thing: t, Remove: func(ctx context.Context) error { return takeAway(ctx, t) }})
		}
	}
	return left
}

// NothingLeft makes an Engine one that leaves nothing behind.
type NothingLeft struct{}

func (NothingLeft) Leftovers(context.Context, *Kit, []Thing) ([]Leftover, error) { return nil, nil }

// Bearer is an Engine that can list what bears a run's label or name in it,
// whoever has made it: for tests, which must not believe the ledger, and to
// tell a user what to look at. Nothing is removed by it.
type Bearer interface {
	Bearing(ctx context.Context, kit *Kit, runID string) ([]Thing, error)
}

// Placer is an Engine for whose things the kernel holds control groups or mounts.
type Placer interface {
	// Places returns their exact paths for a thing of the ledger's: all that the
	// engine gives it there, whether they exist or not.
	Places(t Thing) []string
}

// Kept is a thing that a sweep could not take away.
type Kept struct {
	Thing
	Why string `json:"why"`
	Fix string `json:"fix,omitempty"` // a command, where one is known
}

// sweepLimit bounds what one engine may take to be looked at and cleared.
const sweepLimit = time.Minute

// LookLimit bounds one question to an engine while it is looked at: one that
// hangs is told of in seconds.
const LookLimit = 10 * time.Second

// Sweep removes what the kit's ledger says that an engine still holds, and
// nothing else. What is gone, or was never made, is struck out; what stays is
// told with the reason, and stays in the ledger. An engine that the ledger
// does not name is not asked.
func Sweep(ctx context.Context, kit *Kit, e Engine) (removed []Thing, kept []Kept) {
	things := Of(kit.Ledger.Left(), e.Info().Name)
	if len(things) == 0 {
		return nil, nil
	}
	// What was made last goes first: a container before its image, and both
	// before what they are in.
	slices.Reverse(things)
	ctx, cancel := context.WithTimeout(ctx, sweepLimit)
	defer cancel()
	found, err := guarded(ctx, func() ([]Leftover, error) { return e.Leftovers(ctx, kit, things) })
	for _, t := range things {
		i := slices.IndexFunc(found, func(l Leftover) bool { return l.Thing == t })
		why := err
		if i >= 0 {
			why = found[i].Problem
			if why == nil {
				_, why = guarded(ctx, func() (struct{}, error) { return struct{}{}, found[i].Remove(ctx) })
			}
		}
		if why == nil {
			why = kit.Ledger.Gone(t)
		}
		switch {
		case why != nil:
			kept = append(kept, keep(t, why))
		case i >= 0:
			removed = append(removed, t)
		}
	}
	return removed, kept
}

func keep(t Thing, err error) Kept {
	k := Kept{Thing: t}
	k.Why, k.Fix = Reason(err)
	return k
}

// keptError says of one thing that it stays.
func keptError(k Kept) error {
	err := fmt.Errorf("%s is still there, or it can't be checked: %s", k.Thing, k.Why)
	if k.Fix != "" {
		err = fmt.Errorf("%w (try: %s)", err, k.Fix)
	}
	return err
}

// KeptErrors makes one error of what a sweep could not take away; nil of
// nothing.
func KeptErrors(kept []Kept) error {
	var errs []error
	for _, k := range kept {
		errs = append(errs, keptError(k))
	}
	return errors.Join(errs...)
}

// guarded lets neither a panic nor a call that does not come back stop the
// others' clean-up: such a call is left alone when ctx is over.
func guarded[T any](ctx context.Context, call func() (T, error)) (T, error) {
	type answer struct {
		out T
		err error
	}
	// A call that knows about ctx has something better to say in a moment.
	a := within(ctx, time.Second, func() answer {
		out, err := call()
		return answer{out, err}
	},
		func(p any) answer { return answer{err: errors.New(panicked(p))} },
		func() answer { return answer{err: fmt.Errorf("no answer came within %v", sweepLimit)} })
	return a.out, a.err
}
