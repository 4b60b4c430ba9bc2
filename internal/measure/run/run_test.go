package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/fake"
	"plimsoll/internal/measure/host"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/derive"
)

// spoiled is the fake engine with a fault that begins at a trial of its own
// count.
type spoiled struct {
	*fake.Fake
	name  string
	from  int
	fault func(context.Context, engine.Task, engine.Result) (engine.Result, error)
}

func (s spoiled) Info() engine.Info {
	i := s.Fake.Info()
	i.Name = s.name
	return i
}

func (s spoiled) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	env, err := s.Fake.Open(ctx, kit, spec)
	if err != nil {
		return nil, err
	}
	return &spoiledEnv{Environment: env, of: s}, nil
}

type spoiledEnv struct {
	engine.Environment
	of spoiled
	n  atomic.Int64
}

func (e *spoiledEnv) Run(ctx context.Context, task engine.Task) (engine.Result, error) {
	res, err := e.Environment.Run(ctx, task)
	if n := e.n.Add(1); n <= int64(e.of.from) || err != nil {
		return res, err
	}
	return e.of.fault(ctx, task, res)
}

// closed can't be opened.
type closed struct{ spoiled }

func (closed) Open(context.Context, *engine.Kit, engine.Spec) (engine.Environment, error) {
	return nil, &engine.Error{Class: record.Unavailable, Text: "it is not installed", Fix: "install it"}
}

// counted is the machine whose census tells what a run has left: of real engines this
// one, and where all are simulated, so that there is nothing to be left, an empty one.
func counted(t *testing.T, engines []engine.Engine) host.Machine {
	t.Helper()
	for _, e := range engines {
		if !e.Info().Simulated {
			return host.Machine{}
		}
	}
	return host.Machine{Root: t.TempDir()}
}

// options plans a study of these engines, blocks each.
func options(t *testing.T, blocks int, engines ...engine.Engine) Options {
	t.Helper()
	cat := &study.Catalogue{Factors: engine.Factors}
	var text strings.Builder
	fmt.Fprintf(&text, "plimsoll: 1\nname: test\nprotocol: {blocks: %d, warmup: 1, seed: 3}\nworkloads: [hello]\nenvironments:\n", blocks)
	for _, e := range engines {
		i := e.Info()
		cat.Engines = append(cat.Engines, study.EngineInfo{Name: i.Name, Levels: i.Levels, Detached: i.Detached})
		fmt.Fprintf(&text, "  - engine: %s\n", i.Name)
	}
	for _, w := range workload.Catalogue() {
		cat.Workloads = append(cat.Workloads, study.WorkloadInfo{Name: w.Name, Parameters: w.Parameters, NeedsDetached: w.Detached})
	}
	st, err := study.Read(study.Source{Path: "test", Data: []byte(text.String())}, cat)
	require.NoError(t, err)
	plan, err := study.Expand(st, cat, study.Options{})
	require.NoError(t, err)
	return Options{
		Run: &record.Run{}, Plan: plan, Dir: filepath.Join(t.TempDir(), "run"),
		Engines: engines, State: State{filepath.Join(t.TempDir(), "state")}, Root: os.Geteuid() == 0,
		Getenv: os.Getenv, LookPath: exec.LookPath, Progress: NoProgress{}, Wait: true, Finish: make(chan struct{}),
		machine: counted(t, engines),
	}
}

// results gives the trials by environment, in their order.
func results(t *testing.T, dir string) map[string][]record.Trial {
	t.Helper()
	r, err := record.Open(dir)
	require.NoError(t, err)
	out := map[string][]record.Trial{}
	for tr, err := range derive.Trials(r) {
		require.NoError(t, err)
		out[tr.Env] = append(out[tr.Env], *tr)
	}
	return out
}

// One engine's fault is its own: its trials fail with their class, and those
// of the other engine go on.
func TestFaultsStayTheirOwn(t *testing.T) {
	gone := func(context.Context, engine.Task, engine.Result) (engine.Result, error) {
		return engine.Result{Failure: &record.Failure{Class: record.Unavailable, Text: "the daemon does not answer"}}, nil
	}
	mute := func(_ context.Context, _ engine.Task, res engine.Result) (engine.Result, error) {
		res.Stdout = []byte("all is well\n")
		return res, nil
	}
	parrot := func(_ context.Context, _ engine.Task, res engine.Result) (engine.Result, error) {
		res.Stdout = []byte(strings.Replace(string(res.Stdout), "plimsoll 1 ", "plimsoll 1 x", 1))
		return res, nil
	}
	panics := func(context.Context, engine.Task, engine.Result) (engine.Result, error) { panic("oh") }
	broken := func(context.Context, engine.Task, engine.Result) (engine.Result, error) {
		return engine.Result{}, errors.New("the launcher is gone")
	}
	status := func(_ context.Context, _ engine.Task, res engine.Result) (engine.Result, error) {
		three := 3
		res.Exit = &three
		return res, nil
	}
	for _, c := range []struct {
		name  string
		fault func(context.Context, engine.Task, engine.Result) (engine.Result, error)
		class record.Class
		text  string
	}{
		{"gone", gone, record.Unavailable, "the daemon does not answer"},
		{"mute", mute, record.NoProof, "all is well"},
		{"parrot", parrot, record.NoProof, "word"},
		{"panics", panics, record.HarnessError, "oh"},
		{"broken", broken, record.HarnessError, "the launcher is gone"},
		{"status", status, record.Crash, "status 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options(t, 6, fake.New(), spoiled{fake.New(), "spoiled", 3, c.fault})
			sum, err := Execute(t.Context(), o)
			require.NoError(t, err)
			if sum.Trials != 14 || sum.Failed != 4 || len(sum.Residue) > 0 || sum.Unclean != nil {
				t.Errorf("summary %+v", sum)
			}
			got := results(t, o.Dir)
			for _, tr := range got["fake"] {
				if !tr.OK() {
					t.Errorf("a trial of the other engine failed: %+v", tr.Failure)
				}
			}
			for i, tr := range got["spoiled"] {
				switch {
				case i < 3 && !tr.OK():
					t.Errorf("trial %d failed before the fault: %+v", i, tr.Failure)
				case i >= 3 && (tr.OK() || tr.Failure.Class != c.class || !strings.Contains(tr.Failure.Text, c.text)):
					t.Errorf("trial %d: %+v, want class %s", i, tr.Failure, c.class)
				}
			}
		})
	}
}

// An environment that can't be opened leaves the plan, with its reason; where
// none is left the run says so.
func TestOpenFails(t *testing.T) {
	bad := closed{spoiled{Fake: fake.New(), name: "closed"}}
	o := options(t, 6, fake.New(), bad)
	sum, err := Execute(t.Context(), o)
	require.NoError(t, err)
	if sum.Trials != 7 || sum.Failed != 0 {
		t.Errorf("summary %+v", sum)
	}
	r, err := record.Open(o.Dir)
	require.NoError(t, err)
	x := r.Run().Excluded
	if len(x) != 1 || x[0].ID != "closed" || x[0].Reason != "it is not installed" || x[0].Fix != "install it" || x[0].Kind != study.Unavailable {
		t.Errorf("excluded: %+v", x)
	}
	if r.Run().Status != "done" {
		t.Errorf("status %q", r.Run().Status)
	}

	if _, err := Execute(t.Context(), options(t, 6, bad)); !errors.Is(err, ErrNothing) {
		t.Errorf("with nothing to open: %v", err)
	}
}

// The first interrupt lets the trial in flight end; a resumed run goes on with
// the same plan and comes to the same trials as one that was not interrupted.
func TestInterruptAndResume(t *testing.T) {
	finish := make(chan struct{})
	stopper := spoiled{fake.New(), "stopper", 4, func(_ context.Context, _ engine.Task, res engine.Result) (engine.Result, error) {
		select {
		case <-finish:
		default:
			close(finish)
		}
		return res, nil
	}}
	o := options(t, 8, fake.New(), stopper)
	o.Finish = finish
	sum, err := Execute(t.Context(), o)
	require.NoError(t, err)
	if !sum.Interrupted || sum.Trials == 0 || sum.Trials >= o.Plan.Trials() {
		t.Fatalf("summary %+v", sum)
	}
	first := results(t, o.Dir)

	old, err := record.Open(o.Dir)
	require.NoError(t, err)
	if old.Run().Status != "interrupted" {
		t.Errorf("status %q", old.Run().Status)
	}
	again := o
	again.Run, again.Resume, again.Finish = old.Run(), true, make(chan struct{})
	if again.Plan, err = study.FromRun(old.Run()); err != nil {
		t.Fatal(err)
	}
	sum, err = Execute(t.Context(), again)
	require.NoError(t, err)
	if sum.Interrupted || sum.Trials != o.Plan.Trials() {
		t.Errorf("summary after the resume %+v", sum)
	}
	all := results(t, o.Dir)
	seen := map[int]bool{}
	for _, trials := range all {
		for _, tr := range trials {
			if err := again.Plan.Check(&tr); err != nil || seen[tr.Seq] {
				t.Errorf("trial %d: %v, or it is there twice", tr.Seq, err)
			}
			seen[tr.Seq] = true
		}
	}
	for env, trials := range first {
		for i, tr := range trials {
			if all[env][i].Seq != tr.Seq || !all[env][i].At.Equal(tr.At) {
				t.Errorf("trial %d of %s was measured again", tr.Seq, env)
			}
		}
	}

	// Now an environment is gone: its trials fail, and the others stand.
	o2 := options(t, 8, fake.New(), stopper)
	finish = make(chan struct{})
	o2.Finish = finish
	if _, err := Execute(t.Context(), o2); err != nil {
		t.Fatal(err)
	}
	old, err = record.Open(o2.Dir)
	require.NoError(t, err)
	o2.Run, o2.Resume, o2.Finish = old.Run(), true, make(chan struct{})
	if o2.Plan, err = study.FromRun(old.Run()); err != nil {
		t.Fatal(err)
	}
	o2.Engines = []engine.Engine{fake.New(), closed{stopper}}
	sum, err = Execute(t.Context(), o2)
	require.NoError(t, err)
	if sum.Trials != o2.Plan.Trials() || sum.Failed == 0 {
		t.Errorf("summary with an engine gone %+v", sum)
	}
	for _, tr := range results(t, o2.Dir)["stopper"] {
		if !tr.OK() && (tr.Failure.Class != record.Unavailable || !strings.Contains(tr.Failure.Text, "it is not installed")) {
			t.Errorf("trial %d: %+v", tr.Seq, tr.Failure)
		}
	}
}

// The second interrupt breaks the trial off: no result of it is recorded.
func TestBrokenOff(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	hangs := spoiled{fake.New(), "hangs", 2, func(ctx context.Context, _ engine.Task, _ engine.Result) (engine.Result, error) {
		cancel()
		<-ctx.Done()
		return engine.Result{}, ctx.Err()
	}}
	o := options(t, 6, hangs)
	o.machine = host.Machine{} // this one
	sum, err := Execute(ctx, o)
	require.NoError(t, err)
	if !sum.Interrupted || sum.Trials != 2 || sum.Failed != 0 || len(sum.Residue) > 0 {
		t.Errorf("summary %+v", sum)
	}
	if left, err := o.State.Abandoned(); err != nil || len(left) > 0 {
		t.Errorf("folders of runs are left: %v %v", left, err)
	}
}
