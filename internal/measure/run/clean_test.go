package run

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/fake"
	"plimsoll/internal/record"
)

// holder is an engine that holds things, and may be out of reach, or broken.
type holder struct {
	*fake.Fake
	name   string
	has    []string
	asked  int
	answer func(ctx context.Context) error
}

func (h *holder) Info() engine.Info {
	i := h.Fake.Info()
	i.Name = h.name
	return i
}

func (h *holder) Leftovers(ctx context.Context, _ *engine.Kit, things []engine.Thing) ([]engine.Leftover, error) {
	h.asked++
	if h.answer != nil {
		if err := h.answer(ctx); err != nil {
			return nil, err
		}
	}
	var left []engine.Leftover
	for _, t := range things {
		if slices.Contains(h.has, t.Name) {
			left = append(left, engine.Leftover{Thing: t, Remove: func(context.Context) error {
				h.has = slices.DeleteFunc(h.has, func(n string) bool { return n == t.Name })
				return nil
			}})
		}
	}
	return left, nil
}

func newHolder(name string, has ...string) *holder {
	return &holder{Fake: fake.New(), name: name, has: has}
}

// leave writes the folder of a run that was killed, with this in its ledger.
func leave(t *testing.T, s State, things ...engine.Thing) string {
	t.Helper()
	id := record.NewRunID()
	l, err := OpenLedger(filepath.Join(abandon(t, s, id), ledgerFile))
	require.NoError(t, err)
	defer l.Close()
	for _, it := range things {
		require.NoError(t, l.Made(it))
	}
	return id
}

func cleaning(t *testing.T, engines ...engine.Engine) Options {
	t.Helper()
	o := options(t, 1, engines...)
	o.Wait = true
	return o
}

// TestCleanByLedger: what the ledger names is taken away, and only that.
func TestCleanByLedger(t *testing.T) {
	one := newHolder("one", "c1", "look-alike")
	none := newHolder("none")
	o := cleaning(t, one, none)
	id := leave(t, o.State, engine.Thing{Kind: engine.KindContainer, Name: "c1", Engine: "one", At: "/s"},
		engine.Thing{Kind: engine.KindContainer, Name: "gone already", Engine: "one", At: "/s"})
	c, err := Clean(t.Context(), o, false)
	require.NoError(t, err)
	if !slices.Equal(c.Runs, []string{id}) || !slices.Equal(c.Removed, []string{"container c1 (one at /s)"}) || len(c.Kept) > 0 {
		t.Errorf("%+v", c)
	}
	if !slices.Equal(one.has, []string{"look-alike"}) {
		t.Errorf("the engine has %v", one.has)
	}
	if none.asked > 0 {
		t.Error("an engine was asked that the ledger does not name")
	}
	if _, err := os.Stat(o.State.RunDir(id)); err == nil {
		t.Error("the run's folder is still there")
	}
}

// TestCleanKeeps: what can't be reached stays in the ledger, is told with what
// would help, and does not stop the others; the next clean-up takes it.
func TestCleanKeeps(t *testing.T) {
	down := newHolder("down", "c1")
	down.answer = func(context.Context) error {
		return &engine.Error{Text: "the daemon does not answer", Fix: "start it"}
	}
	mad := newHolder("mad", "c1")
	mad.answer = func(context.Context) error { panic("at last") }
	good := newHolder("good", "c1")
	o := cleaning(t, down, mad, good)
	thing := func(name string) engine.Thing {
		return engine.Thing{Kind: engine.KindContainer, Name: "c1", Engine: name}
	}
	id := leave(t, o.State, thing("down"), thing("mad"), thing("good"), thing("unknown"))
	c, err := Clean(t.Context(), o, false)
	require.NoError(t, err)
	if !slices.Equal(c.Removed, []string{"container c1 (good)"}) {
		t.Errorf("removed %v", c.Removed)
	}
	var why []string
	for _, k := range c.Kept {
		why = append(why, k.Engine+": "+k.Why+" / "+k.Fix)
	}
	slices.Sort(why)
	want := []string{"down: the daemon does not answer / start it", "mad: the adapter panicked: at last / ", "unknown: this plimsoll has no engine unknown / "}
	if !slices.Equal(why, want) {
		t.Errorf("kept %q, want %q", why, want)
	}
	if left, err := o.State.Abandoned(); err != nil || len(left) != 1 || left[0].RunID != id {
		t.Fatalf("the run's folder is not kept: %v %v", left, err)
	}
	down.answer, mad.answer = nil, nil
	o.Engines = append(o.Engines, newHolder("unknown"))
	if c, err = Clean(t.Context(), o, false); err != nil || len(c.Kept) > 0 || len(c.Removed) != 2 {
		t.Errorf("the second time: %+v %v", c, err)
	}
	if left, _ := o.State.Abandoned(); len(left) != 0 {
		t.Errorf("still there: %v", left)
	}
}

// TestSweepOfAHangingEngine: who does not come back is left alone in the end,
// and told.
func TestSweepOfAHangingEngine(t *testing.T) {
	stuck := newHolder("stuck", "c1")
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	stuck.answer = func(context.Context) error { <-over; return errors.New("over") }
	o := cleaning(t, stuck)
	id := leave(t, o.State, engine.Thing{Kind: engine.KindContainer, Name: "c1", Engine: "stuck"})
	kit, l, err := NewKit(id, o.State.RunDir(id), o)
	require.NoError(t, err)
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	removed, kept := engine.Sweep(ctx, kit, stuck)
	if len(removed) > 0 || len(kept) != 1 || !strings.Contains(kept[0].Why, "no answer") {
		t.Errorf("%v %+v", removed, kept)
	}
	if len(l.Left()) != 1 {
		t.Error("it was struck out of the ledger")
	}
}

// TestOtherStates: a run and a clean-up with a state directory of their own leave what is
// in the ledgers of another one, though the same engine holds it.
func TestOtherStates(t *testing.T) {
	one := newHolder("one", "c1")
	o := cleaning(t, one)
	other := State{t.TempDir()}
	id := leave(t, other, engine.Thing{Kind: engine.KindContainer, Name: "c1", Engine: "one"})
	c, err := Clean(t.Context(), o, true)
	require.NoError(t, err)
	_, err = Execute(t.Context(), o)
	require.NoError(t, err)
	if c.State != o.State.Dir || len(c.Runs)+len(c.Removed) > 0 || !slices.Equal(one.has, []string{"c1"}) {
		t.Errorf("%+v, and the engine has %v", c, one.has)
	}
	if left, err := other.Abandoned(); err != nil || len(left) != 1 || left[0].RunID != id {
		t.Errorf("the other state has %+v: %v", left, err)
	}
}

// TestOtherUsers: in a state directory that several users share, the runs of others are
// left alone, and whose they are is reported.
func TestOtherUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("giving a run's folder to another user needs root")
	}
	one := newHolder("one", "c1")
	o := cleaning(t, one)
	id := leave(t, o.State, engine.Thing{Kind: engine.KindContainer, Name: "c1", Engine: "one"})
	require.NoError(t, os.Chown(filepath.Join(o.State.RunDir(id), ownerFile), 65534, 65534))
	c, err := Clean(t.Context(), o, false)
	require.NoError(t, err)
	if len(c.Runs) > 0 || one.asked > 0 || len(c.Others) != 1 || !strings.Contains(c.Others[0], id) || !strings.Contains(c.Others[0], "uid 65534") {
		t.Errorf("%+v, asked %d times", c, one.asked)
	}
}
