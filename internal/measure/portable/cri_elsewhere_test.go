package portable

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/record"
)

// What is not there is told so; where another server answers than the run had, its socket
// may lead to another node by now, and the ledger keeps it.
func TestAbsent(t *testing.T) {
	at := serve(t, &silent{})
	thing := engine.Thing{Kind: engine.KindImage, Name: loaded + "x:abcdefgh", Engine: CRI, At: at.Host}
	for server, kept := range map[string]bool{"": false, "silent 2": false, "silent 1": true} {
		at.Server = server
		all := Surroundings{}.takeAway(t.Context(), "abcdefgh", []engine.Thing{thing}, map[string]reach{at.Host: {Address: at}})
		if len(all) != 1 || all[0].Absent == kept || kept != strings.Contains(all[0].Kept, "silent 2 answers at "+at.Host+", and it had silent 1") {
			t.Errorf("the run had %q: %+v", server, all)
		}
	}
}

// What bears the run's id is removed whatever answers; that it is not there afterwards is no
// word on another node.
func TestRemovedElsewhere(t *testing.T) {
	pod := engine.Thing{Kind: engine.KindContainer, Name: "plimsoll-abcdefgh-1", Engine: CRI}
	at := serve(t, &silent{pod: pod.Name})
	at.Server = "silent 1"
	require.NoError(t, at.removeCRI(t.Context(), pod, "abcdefgh"))
	again := at.removeCRI(t.Context(), pod, "abcdefgh")
	if !errors.Is(again, ErrElsewhere) {
		t.Errorf("the second time: %v", again)
	}
	other := errors.New("it does not answer")
	for _, c := range []struct {
		err  error
		gone bool
		want Cleaned
	}{
		{nil, true, Cleaned{}}, {nil, false, Cleaned{}},
		{errAbsent, true, Cleaned{}}, {errAbsent, false, Cleaned{Absent: true}},
		{again, true, Cleaned{}}, {again, false, Cleaned{Kept: again.Error()}},
		{errKeeps, false, Cleaned{Left: errKeeps.Error()}},
		{other, true, Cleaned{Kept: other.Error()}}, {other, false, Cleaned{Kept: other.Error()}},
	} {
		var is Cleaned
		if is.became(c.err, c.gone); is != c.want {
			t.Errorf("%v after a removal (%v): %+v, want %+v", c.err, c.gone, is, c.want)
		}
	}
}

// A run that is resumed where another server answers does not take that one's word for what
// its ledger still names; where nothing is left, it does.
func TestOpenElsewhere(t *testing.T) {
	at := serve(t, &silent{})
	l, err := NewLedger(t.TempDir(), "abcdefgh")
	require.NoError(t, err)
	thing := engine.Thing{Kind: engine.KindImage, Name: loaded + "x:abcdefgh", Engine: CRI, At: at.Host}
	was := at
	was.Server = "silent 1"
	require.NoError(t, errors.Join(l.Reached(at.Host, reach{Address: was}), l.Made(thing)))
	r := &run{ledger: l, envs: map[string]*environment{}, Options: Options{Run: &record.Run{ID: "abcdefgh"}, Say: func(string) {},
		Look: &Look{found: map[string]*Found{CRI: {Engine: CRI, address: at}}},
		Plan: &study.Plan{Environments: []record.Environment{{ID: "cri", Engine: CRI}}}}}
	t.Cleanup(func() {
		for _, remove := range r.removals { // they close the connections
			_ = remove(context.WithoutCancel(t.Context()))
		}
	})
	if err := r.openAll(t.Context()); !errors.Is(err, ErrElsewhere) || l.by[at.Host].Address.Server != "silent 1" || !slices.Equal(l.Left(), []engine.Thing{thing}) {
		t.Errorf("%v; the ledger has %+v and %v", err, l.by, l.Left())
	}
	require.NoError(t, l.Gone(thing))
	if err := r.openAll(t.Context()); !errors.Is(err, ErrNothing) || l.by[at.Host].Address.Server != "silent 2" {
		t.Errorf("with nothing left: %v, %+v", err, l.by)
	}
	require.NoError(t, l.Close())
}
