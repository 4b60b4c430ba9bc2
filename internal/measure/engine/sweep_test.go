package engine_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/kittest"
)

// holder has everything that it is asked for, and notes in which order it goes.
type holder struct {
	engine.Engine
	gone []string
}

func (*holder) Info() engine.Info { return engine.Info{Name: "holder"} }

func (h *holder) Leftovers(_ context.Context, _ *engine.Kit, things []engine.Thing) ([]engine.Leftover, error) {
	var left []engine.Leftover
	for _, t := range things {
		left = append(left, engine.Leftover{Thing: t, Remove: func(context.Context) error {
			h.gone = append(h.gone, t.Name)
			return nil
		}})
	}
	return left, nil
}

// TestSweepOrder: an image is in use until its container has gone.
func TestSweepOrder(t *testing.T) {
	kit := &engine.Kit{RunID: "abcd1234", Ledger: &kittest.Ledger{}}
	for _, name := range []string{"namespace", "image", "container"} {
		require.NoError(t, kit.Ledger.Made(engine.Thing{Kind: name, Name: name, Engine: "holder"}))
	}
	h := &holder{}
	removed, kept := engine.Sweep(t.Context(), kit, h)
	if want := []string{"container", "image", "namespace"}; !slices.Equal(h.gone, want) || len(removed) != 3 || len(kept) > 0 {
		t.Errorf("removed in the order %q, want %q; %v, kept %v", h.gone, want, removed, kept)
	}
}

// TestLookFor: a place that does not answer is asked once, and all that is
// there is told with the same reason; other places are asked.
func TestLookFor(t *testing.T) {
	down := errors.New("no answer")
	asked := map[string]int{}
	things := []engine.Thing{{Name: "a", At: "down"}, {Name: "b", At: "up"}, {Name: "c", At: "down"}, {Name: "gone", At: "up"}}
	var removed []string
	left := engine.LookFor(things, func(it engine.Thing) (bool, error) {
		asked[it.At]++
		if it.At == "down" {
			return false, down
		}
		return it.Name != "gone", nil
	}, func(_ context.Context, it engine.Thing) error {
		removed = append(removed, it.Name)
		return nil
	})
	if asked["down"] != 1 || asked["up"] != 2 {
		t.Errorf("asked %v", asked)
	}
	if len(left) != 3 || left[0].Thing != things[0] || left[2].Thing != things[2] {
		t.Fatalf("%+v", left)
	}
	for i, want := range []error{down, nil, down} {
		if !errors.Is(left[i].Problem, want) || (want == nil) != (left[i].Remove != nil) {
			t.Errorf("%s: %+v", left[i].Name, left[i])
		}
	}
	if err := left[1].Remove(t.Context()); err != nil || len(removed) != 1 || removed[0] != "b" {
		t.Errorf("removed %v, %v", removed, err)
	}
}
