package run

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/bubblewrap"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// TestAskers: who asks for starts is this process and its launchers, and no other child of
// it, such as a daemon that is asked.
func TestAskers(t *testing.T) {
	path := filepath.Join(t.TempDir(), probe.FileName)
	require.NoError(t, os.WriteFile(path, probe.Binary(), 0o755)) //nolint:gosec // it is executed
	l, err := probe.Start(t.Context(), path, probe.Options{})
	require.NoError(t, err)
	defer l.Close()
	daemon := exec.Command("sleep", "60")
	require.NoError(t, daemon.Start())
	defer func() { _ = daemon.Process.Kill(); _ = daemon.Wait() }()
	if all := askers(); all[0] != os.Getpid() || !slices.Contains(all, l.PID()) || slices.Contains(all, daemon.Process.Pid) {
		t.Errorf("%v ask, of us (%d), a launcher (%d) and another child (%d)", all, os.Getpid(), l.PID(), daemon.Process.Pid)
	}
}

// TestInCompany: in every second pair of blocks several start together, each proves
// that it ran, and the trial keeps when the last of them was ready.
func TestInCompany(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real containers: left out with -short")
	}
	o := protocolOf(t, "  - hello\n", "  - engine: bubblewrap\n", bubblewrap.New())
	o.Plan.Protocol.Blocks, o.AtOnce = 4, 3
	sum, err := Execute(t.Context(), o)
	if errors.Is(err, ErrNothing) && len(sum.Excluded) > 0 {
		t.Skip("it can't be had here: ", sum.Excluded[0].Reason)
	}
	require.NoError(t, err)
	r, err := record.Open(o.Dir)
	require.NoError(t, err)
	together := 0
	for tr, err := range r.Trials() {
		require.NoError(t, err)
		if tr.Failure != nil {
			t.Fatalf("%+v", *tr.Failure)
		}
		own, last := float64(tr.Events[record.Ready]-tr.Events[record.Request]), tr.Values[LastReady]
		switch {
		case !tr.Warmup && Accompanied(tr.Block) && last < own:
			t.Errorf("block %d: ready after %v ns, the last of all after %v", tr.Block, own, last)
		case !tr.Warmup && Accompanied(tr.Block):
			together++
		case last != 0:
			t.Errorf("block %d was alone, and has a last one after %v ns", tr.Block, last)
		}
	}
	if together != 2 {
		t.Errorf("%d trials had company, not 2", together)
	}
}

// TestCompanionFails: a start does not count where one that began beside it failed.
func TestCompanionFails(t *testing.T) {
	env := &failsSecond{}
	res, _, err := inCompany(t.Context(), env, engine.Task{Name: "one", Argv: []string{measured}}, 2)
	if err != nil || res.Failure == nil || !strings.HasPrefix(res.Failure.Text, "one of the 2 at once: ") {
		t.Errorf("%+v, %v", res.Failure, err)
	}
}

// TestNoNameBeginsAnother: runsc takes the beginning of an id for the id.
func TestNoNameBeginsAnother(t *testing.T) {
	var names []string
	for i := range 2000 {
		names = append(names, member("plimsoll-x-3", i))
	}
	slices.Sort(names) // what begins with a name then follows it
	for i, n := range names[1:] {
		if strings.HasPrefix(n, names[i]) {
			t.Fatalf("%s begins as %s", n, names[i])
		}
	}
	for _, n := range []string{"plimsoll-x-30", "plimsoll-x-3-1"} {
		if strings.HasPrefix(member(n, 1), member("plimsoll-x-3", 0)) {
			t.Errorf("%s begins as one of plimsoll-x-3 does", n)
		}
	}
}

// TestTheOneIsDrawn: the start that is followed is any of those that begin together, not
// always the first to ask.
func TestTheOneIsDrawn(t *testing.T) {
	at := map[string]int{}
	for range 200 {
		env := &recordsOne{}
		if _, _, err := inCompany(t.Context(), env, engine.Task{Name: "one", Argv: []string{measured}}, 4); err != nil {
			t.Fatal(err)
		}
		at[env.name]++
	}
	for i := range 4 {
		if n := at[member("one", i)]; n < 20 || n > 80 {
			t.Errorf("of 200 rounds of four the followed one stood at %d in %d: %v", i, n, at)
		}
	}
}

const measured = "the measured one"

type recordsOne struct {
	engine.Environment
	name string
}

func (r *recordsOne) Run(_ context.Context, t engine.Task) (engine.Result, error) {
	if slices.Contains(t.Argv, measured) {
		r.name = t.Name
	}
	return engine.Result{}, nil
}

type failsSecond struct{ engine.Environment }

func (failsSecond) Run(_ context.Context, t engine.Task) (engine.Result, error) {
	if slices.Contains(t.Argv, measured) {
		return engine.Result{}, nil
	}
	return engine.Result{Failure: &record.Failure{Class: record.Crash, Text: "it fell"}}, nil
}
