//go:build linux

package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"plimsoll/internal/measure/trace"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/timeline"
)

// rate follows a command alone and several times at once, in the same rounds.
func (f *explainFlags) rate(w World, argv []string) (*timeline.Comparison, error) {
	program, err := w.LookPath(argv[0])
	if err != nil {
		return nil, noProgram(argv[0])
	}
	argv = append([]string{program}, argv[1:]...)
	if err := rooted(append([]string{"explain", "--at-once", fmt.Sprint(f.atOnce), "--"}, argv...)...); err != nil {
		return nil, err
	}
	w, ctx, _, stop := w.interrupts()
	defer stop()
	r, err := trace.Open(f.options())
	if err != nil {
		return nil, fail(NothingHere, "the kernel can't be followed here: %w", err)
	}
	defer func() { _ = r.Close() }()
	var of [2]company
	show := newProgress(w, f.progress)
	defer show.End()
	for n := range f.starts + 1 {
		f.step(show, n)
		for _, k := range rand.Perm(4) {
			if err := of[k/2].round(ctx, r, argv, []int{1, f.atOnce}[k/2], k%2 == 0, n > 0); err != nil {
				return nil, err
			}
		}
	}
	var x [2]*timeline.Explanation
	for i := range of {
		if x[i], err = timeline.Explain(of[i].traces, of[i].untraced); err != nil {
			return nil, fail(Failed, "%w", err)
		}
	}
	return rateOf(f.atOnce, x[0], x[1], of[1].all)
}

// rateOf compares starts of one alone with those of several at once; all has what
// passed in each round until the last of them was there.
func rateOf(atOnce int, alone, together *timeline.Explanation, all []int64) (*timeline.Comparison, error) {
	if len(all) == 0 {
		return nil, fail(SomeFailed, "no round of %d at once succeeded", atOnce)
	}
	together.What += fmt.Sprintf(", %d at once", atOnce)
	c := timeline.Against(alone, together)
	c.RateOf(atOnce, all)
	return c, nil
}

// company are starts of which as many began at the same time.
type company struct {
	traces   []*record.Trace
	untraced []int64
	all      []int64 // of each round that was not traced
}

func (c *company) round(ctx context.Context, r *trace.Recorder, argv []string, n int, traced, counts bool) error {
	t, err := r.Commands(ctx, argv, n, traced)
	switch {
	case errors.Is(err, context.Canceled):
		return fail(Interrupted, "interrupted")
	case err != nil:
		return fail(Failed, "%w", err)
	case !counts:
	case traced:
		c.traces = append(c.traces, t.Traces...)
	default:
		c.untraced, c.all = append(c.untraced, t.NS...), append(c.all, t.All)
	}
	return nil
}
