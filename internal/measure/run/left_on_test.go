package run

import (
	"context"
	"slices"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
)

// leaver is an engine that leaves a setting of the kernel's on for others: when it is
// opened, and when it is cleaned up after.
type leaver struct{ *holder }

func (l leaver) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	kit.LeftOn("the run's own")
	return l.holder.Open(ctx, kit, spec)
}

func (l leaver) Leftovers(_ context.Context, kit *engine.Kit, _ []engine.Thing) ([]engine.Leftover, error) {
	kit.LeftOn("a killed run's")
	return nil, nil
}

// remarked keeps the remarks.
type remarked struct {
	NoProgress
	said *[]string
}

func (r remarked) Remark(text string) { *r.said = append(*r.said, text) }

// TestLeftOn: what stays switched on for others is said, by a clean-up and by a run.
func TestLeftOn(t *testing.T) {
	o := cleaning(t, leaver{newHolder("leaver")})
	kill := func() {
		leave(t, o.State, engine.Thing{Kind: engine.KindContainer, Name: "c1", Engine: "leaver"})
	}
	kill()
	c, err := Clean(t.Context(), o, false)
	if err != nil || !slices.Equal(c.LeftOn, []string{"a killed run's"}) {
		t.Errorf("%+v: %v", c, err)
	}
	kill()
	var said []string
	o.Progress = remarked{said: &said}
	_, err = Execute(t.Context(), o)
	require.NoError(t, err)
	for _, want := range []string{"left on: a killed run's", "left on: the run's own"} {
		if !slices.Contains(said, want) {
			t.Errorf("it is not said %q: %q", want, said)
		}
	}
}
