package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/fake"
	"plimsoll/internal/record"
)

// faulty is an engine that does as it is told where it is asked.
type faulty struct {
	engine.Engine
	do func()
}

func (f *faulty) Info() engine.Info {
	f.do()
	return f.Engine.Info()
}

func (f *faulty) Detect(ctx context.Context, kit *engine.Kit) engine.Detection {
	f.do()
	return f.Engine.Detect(ctx, kit)
}

func (f *faulty) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	f.do()
	return f.Engine.Open(ctx, kit, spec)
}

func TestShieldTakesPanics(t *testing.T) {
	e := engine.Shield([]engine.Engine{&faulty{fake.New(), func() { panic("a mistake") }}})[0]
	if i := e.Info(); i.Name != "engine_test" || i.Title == "" {
		t.Errorf("%+v", i)
	}
	if d := e.Detect(t.Context(), nil); d.Usable || d.Reason != "the adapter panicked: a mistake" || d.Fix == "" {
		t.Errorf("%+v", d)
	}
	var why *engine.Error
	if _, err := e.Open(t.Context(), nil, engine.Spec{}); !errors.As(err, &why) || why.Class != record.HarnessError || !strings.Contains(why.Text, "a mistake") {
		t.Errorf("%v", err)
	}
}

// A call that does not come back is left when its context has been over for a
// while, and an environment that comes after all is closed.
func TestShieldLeavesEndlessCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		e := engine.Shield([]engine.Engine{&faulty{fake.New(), func() { <-free }}})[0]
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		if d := e.Detect(ctx, nil); d.Usable || !strings.Contains(d.Reason, "does not come to an end") {
			t.Errorf("%+v", d)
		}
		if took := time.Since(begin); took > 10*time.Second { // of the bubble's own clock
			t.Errorf("left after %v", took)
		}
		var why *engine.Error
		if _, err := e.Open(ctx, nil, engine.Spec{}); !errors.As(err, &why) || why.Class != record.TimeOut {
			t.Errorf("%v", err)
		}
		close(free)
		synctest.Wait()
	})
}

// One that comes back in time is as without a shield, twice shielded or not.
func TestShieldIsThin(t *testing.T) {
	once := engine.Shield([]engine.Engine{fake.New()})
	e := engine.Shield(once)[0]
	if e != once[0] {
		t.Error("it is shielded twice")
	}
	if e.Info().Name != fake.Name || !e.Detect(t.Context(), nil).Usable {
		t.Errorf("%+v", e.Info())
	}
	env, err := e.Open(t.Context(), nil, engine.Spec{ID: "fake"})
	require.NoError(t, err)
	if err := env.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
