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
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// mistaken is an engine with a mistake in one of its calls.
type mistaken struct {
	*fake.Fake
	in   string
	free chan struct{} // what "Close hangs" waits for
}

func (f mistaken) Info() engine.Info {
	i := f.Fake.Info()
	i.Name, i.Title = "faulty", "Faulty"
	return i
}

func (f mistaken) fail(call string) {
	if f.in == call {
		panic("a mistake in " + call)
	}
}

func (f mistaken) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	f.fail("Open")
	if err := kit.Ledger.Made(engine.Thing{Kind: engine.KindContainer, Name: "made-by-a-mistake", Engine: "faulty"}); err != nil {
		return nil, err
	}
	env, err := f.Fake.Open(ctx, kit, spec)
	return &mistakenEnv{env, f}, err
}

func (f mistaken) Leftovers(ctx context.Context, kit *engine.Kit, things []engine.Thing) ([]engine.Leftover, error) {
	f.fail("Leftovers")
	return f.Fake.Leftovers(ctx, kit, things)
}

type mistakenEnv struct {
	engine.Environment
	of mistaken
}

func (e *mistakenEnv) Facts() map[string]string {
	e.of.fail("Facts")
	return e.Environment.Facts()
}

func (e *mistakenEnv) Calibrate(context.Context, engine.Task, int) ([]probe.Exchange, error) {
	e.of.fail("Calibrate")
	return nil, errors.New("not here")
}

func (e *mistakenEnv) Run(ctx context.Context, task engine.Task) (engine.Result, error) {
	e.of.fail("Run")
	return e.Environment.Run(ctx, task)
}

func (e *mistakenEnv) Close(ctx context.Context) error {
	e.of.fail("Close")
	if e.of.in == "Close hangs" {
		<-e.of.free
	}
	return e.Environment.Close(ctx)
}

// A mistake in one engine is that one's alone: the run goes on, the other's
// trials are all there and good, and the record says what happened.
func TestFaultyEngineBesideAGoodOne(t *testing.T) {
	for _, in := range []string{"", "Open", "Facts", "Calibrate", "Run", "Close", "Close hangs", "Leftovers"} {
		t.Run(in, func(t *testing.T) {
			free := make(chan struct{})
			defer close(free)
			o := options(t, 2, fake.New(), mistaken{fake.New(), in, free})
			o.OpenLimit = 2 * time.Second
			if in == "Close hangs" {
				o.OpenLimit = 500 * time.Millisecond
			}
			sum, err := Execute(t.Context(), o)
			require.NoError(t, err)
			all := results(t, o.Dir)
			if len(all["fake"]) != 3 {
				t.Errorf("%d trials of the good one, not 3", len(all["fake"]))
			}
			for _, tr := range all["fake"] {
				if !tr.OK() {
					t.Errorf("a trial of the good one failed: %+v", tr.Failure)
				}
			}
			out := map[string]string{}
			for _, x := range sum.Excluded {
				out[x.ID] = x.Reason
			}
			unclean := ""
			if sum.Unclean != nil {
				unclean = sum.Unclean.Error()
			}
			switch in {
			case "Open", "Facts":
				if !strings.Contains(out["faulty"], "the adapter panicked: a mistake in "+in) {
					t.Errorf("excluded: %v", out)
				}
			case "Run":
				for _, tr := range all["faulty"] {
					if f := tr.Failure; f == nil || f.Class != record.HarnessError || !strings.Contains(f.Text, "a mistake in Run") {
						t.Errorf("%+v", tr.Failure)
					}
				}
				fallthrough
			default:
				if len(all["faulty"]) != 3 || len(out) > 0 {
					t.Errorf("%d trials of the faulty one; excluded: %v", len(all["faulty"]), out)
				}
			}
			if want := map[string]string{"Close": "a mistake in Close", "Close hangs": "did not come to an end", "Leftovers": "a mistake in Leftovers"}[in]; !strings.Contains(unclean, want) || (want == "") != (unclean == "") {
				t.Errorf("unclean: %q", unclean)
			}
		})
	}
}

// rotten is a held container that can't even be looked at.
type rotten struct{ engine.Held }

func (rotten) Output() (stdout, stderr []byte) { panic("a mistake in Output") }

// What is not guarded call by call is the trial's alone all the same.
func TestPanicEndsATrialAndNotTheRun(t *testing.T) {
	o := protocolOf(t, "  - {name: density, parameters: {count: \"2\", rest: 0s}}\n  - hello\n", "  - engine: faulty\n",
		faulty{spoiled{Fake: fake.New(), name: "faulty"}, func(_ int, h engine.Held, err error) (engine.Held, error) { return rotten{h}, err }})
	if _, err := Execute(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for _, tr := range results(t, o.Dir)["faulty"] {
		switch f := tr.Failure; {
		case tr.Workload == "hello" && f != nil:
			t.Errorf("%+v", f)
		case tr.Workload != "hello" && (f == nil || f.Class != record.HarnessError || !strings.Contains(f.Text, "a mistake in Output")):
			t.Errorf("%s: %+v", tr.Workload, f)
		}
	}
}
