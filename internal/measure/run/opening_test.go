package run

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/fake"
)

// long takes longer to open than there is time, and may say so beforehand.
type long struct {
	spoiled
	asks bool
}

func (l long) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	takes := time.Minute
	if l.asks {
		kit.TakesLonger("loading a large image", time.Minute)
		takes = 4 * shortOpening
	}
	select {
	case <-time.After(takes):
		return l.spoiled.Open(ctx, kit, spec)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

const shortOpening = 200 * time.Millisecond

// steps keeps what the user is told of stages.
type steps struct {
	NoProgress
	said *[]string
}

func (s steps) Step(text string) { *s.said = append(*s.said, text) }

// Who says beforehand that an opening will take long gets the time, and the
// user is told; who does not is left out.
func TestLongOpening(t *testing.T) {
	clean := func(_ context.Context, _ engine.Task, res engine.Result) (engine.Result, error) { return res, nil }
	asks, silent := long{spoiled{fake.New(), "asks", 0, clean}, true}, long{spoiled{fake.New(), "silent", 0, clean}, false}
	o := options(t, 1, asks, silent)
	var said []string
	o.OpenLimit, o.Progress = shortOpening, steps{said: &said}
	sum, err := Execute(t.Context(), o)
	require.NoError(t, err)
	if len(sum.Excluded) != 1 || sum.Excluded[0].Engine != "silent" || !strings.Contains(sum.Excluded[0].Reason, "more than ") {
		t.Errorf("left out: %+v, expected silent alone", sum.Excluded)
	}
	if !strings.Contains(strings.Join(said, "\n"), "loading a large image") {
		t.Errorf("the user was told %q, and not of what takes long", said)
	}
}

// The context of an opening ends by its limit, by the run's end and by its own,
// and says by which.
func TestOpeningEnds(t *testing.T) {
	o := newOpening(t.Context(), time.Millisecond)
	<-o.Done()
	if o.end(); !errors.Is(o.Err(), context.DeadlineExceeded) {
		t.Errorf("at the limit: %v", o.Err())
	}
	ctx, cancel := context.WithCancel(t.Context())
	o = newOpening(ctx, time.Hour)
	o.lengthen(time.Hour)
	if at, ok := o.Deadline(); o.Err() != nil || !ok || time.Until(at) < time.Hour || o.most() != 2*time.Hour {
		t.Errorf("lengthened: %v, %v, %v", o.Err(), at, o.most())
	}
	cancel()
	<-o.Done()
	if o.end(); !errors.Is(o.Err(), context.Canceled) {
		t.Errorf("at the run's end: %v", o.Err())
	}
	o = newOpening(t.Context(), time.Hour)
	o.end()
	<-o.Done()
	if !errors.Is(o.Err(), context.Canceled) {
		t.Errorf("at its own end: %v", o.Err())
	}
}
