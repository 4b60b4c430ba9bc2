package run

import (
	"context"
	"slices"
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/fake"
)

// lasting notes in which order its environments are opened and closed.
type lasting struct {
	*fake.Fake
	name string
	log  *[]string
}

func (l lasting) Info() engine.Info {
	i := l.Fake.Info()
	i.Name = l.name
	return i
}

func (l lasting) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	env, err := l.Fake.Open(ctx, kit, spec)
	if err != nil {
		return nil, err
	}
	*l.log = append(*l.log, "open "+l.name)
	return &lastingEnv{env, l}, nil
}

type lastingEnv struct {
	engine.Environment
	of lasting
}

func (e *lastingEnv) Close(ctx context.Context) error {
	*e.of.log = append(*e.of.log, "close "+e.of.name)
	return e.Environment.Close(ctx)
}

// TestCloseOrder: what was opened last is closed first, since it may hold what
// was made before it.
func TestCloseOrder(t *testing.T) {
	var log []string
	o := options(t, 1, lasting{fake.New(), "one", &log}, lasting{fake.New(), "two", &log}, lasting{fake.New(), "three", &log})
	if _, err := Execute(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	opened, closed := log[:len(log)/2], slices.Clone(log[len(log)/2:])
	slices.Reverse(closed)
	if len(log) != 6 {
		t.Fatalf("%q", log)
	}
	for i := range opened {
		if opened[i][len("open "):] != closed[i][len("close "):] {
			t.Errorf("closed in another order than the reverse of opening: %q", log)
		}
	}
}
