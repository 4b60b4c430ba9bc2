package fake_test

import (
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/engine/fake"
	"plimsoll/internal/measure/engine/kittest"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

func TestConformance(t *testing.T) {
	kit := kittest.Bare(t)
	skip := map[string]string{"tools": "a fake runs only the payload", "limits": "nothing real runs",
		"isolation": "nothing real runs"}
	for _, runtime := range []string{"medium", "foreign", "sleeping"} {
		t.Run(runtime, func(t *testing.T) {
			enginetest.Conformance(t, fake.New(), map[string]string{engine.Runtime: runtime},
				enginetest.Options{Kit: kit, Skip: skip, MustOpen: true})
		})
	}
}

func open(t *testing.T, f *fake.Fake, id, runtime string) engine.Environment {
	t.Helper()
	env, err := f.Open(t.Context(), nil, engine.Spec{ID: id, Levels: map[string]string{engine.Runtime: runtime}})
	require.NoError(t, err)
	return env
}

func run(t *testing.T, env engine.Environment) engine.Result {
	t.Helper()
	args := probe.PayloadArgs{Word: "w"}
	res, err := env.Run(t.Context(), engine.Task{Name: "n", Argv: args.Argv(image.ProbePath), Limit: time.Second})
	require.NoError(t, err)
	return res
}

// phase collects a phase's times over n trials, in ns.
func phase(t *testing.T, env engine.Environment, n int, from, to record.Event) []float64 {
	t.Helper()
	var xs []float64
	for range n {
		if res := run(t, env); res.Failure == nil {
			xs = append(xs, float64(res.Events[to]-res.Events[from]))
		}
	}
	slices.Sort(xs)
	return xs
}

func median(xs []float64) float64 { return xs[len(xs)/2] }

func TestSameSeedSameRun(t *testing.T) {
	course := func(f *fake.Fake) []engine.Result {
		env := open(t, f, "a", "flaky")
		var rs []engine.Result
		for range 50 {
			rs = append(rs, run(t, env))
		}
		return rs
	}
	if !reflect.DeepEqual(course(fake.New()), course(fake.New())) {
		t.Error("the same seed gives another course")
	}
	if reflect.DeepEqual(course(fake.New()), course(fake.Seeded(2))) {
		t.Error("another seed gives the same course")
	}
}

// Twins behave alike but draw on their own: else an A/A comparison of them
// could not go wrong.
func TestTwinsDrawOnTheirOwn(t *testing.T) {
	f := fake.New()
	a := phase(t, open(t, f, "a", "medium"), 500, record.Request, record.Created)
	b := phase(t, open(t, f, "b", "medium"), 500, record.Request, record.Created)
	if reflect.DeepEqual(a, b) {
		t.Error("two environments have the same times")
	}
	if r := median(a) / median(b); r < 0.97 || r > 1.03 {
		t.Errorf("their medians are %.3f apart", r)
	}
}

func TestDistribution(t *testing.T) {
	want := fake.Medium().Phases[fake.Create]
	xs := phase(t, open(t, fake.New(), "a", "medium"), 4000, record.Request, record.Created)
	if r := median(xs) / float64(want.Median); r < 0.99 || r > 1.01 {
		t.Errorf("the median is %.4f of the model's", r)
	}
	// A normal's quartiles lie 0.6745 standard deviations from its median.
	iqr := math.Log(xs[len(xs)*3/4]) - math.Log(xs[len(xs)/4])
	if r := iqr / (2 * 0.6745 * want.Sigma); r < 0.9 || r > 1.1 {
		t.Errorf("the spread is %.3f of the model's", r)
	}
}

// A delay is found in its phase and in no other.
func TestInjectedDelay(t *testing.T) {
	f := fake.New()
	plain, late := open(t, f, "a", "medium"), open(t, f, "b", "delayed")
	created := median(phase(t, late, 2000, record.Request, record.Created)) - median(phase(t, plain, 2000, record.Request, record.Created))
	if created < 4.9e6 || created > 5.1e6 {
		t.Errorf("create is %.2f ms slower, want 5", created/1e6)
	}
	removal := median(phase(t, late, 2000, record.Exit, record.Removed)) / median(phase(t, plain, 2000, record.Exit, record.Removed))
	if removal < 0.98 || removal > 1.02 {
		t.Errorf("removal changed by a factor of %.3f", removal)
	}
}

func TestFailureRates(t *testing.T) {
	env := open(t, fake.New(), "a", "flaky")
	seen, n := map[record.Class]int{}, 5000
	for range n {
		res := run(t, env)
		switch {
		case res.Failure != nil:
			seen[res.Failure.Class]++
		default:
			if _, err := probe.ParsePayload(res.Stdout, "w"); err != nil {
				seen[record.NoProof]++
			}
		}
	}
	for class, want := range map[record.Class]float64{record.EngineError: 0.04, record.TimeOut: 0.02, record.Crash: 0.02, record.NoProof: 0.02} {
		if got := float64(seen[class]) / float64(n); got < want*0.7 || got > want*1.3 {
			t.Errorf("%s: rate %.4f, want %.2f", class, got, want)
		}
	}
}

func TestDrift(t *testing.T) {
	env := open(t, fake.New(), "a", "drifting")
	early := median(phase(t, env, 100, record.Request, record.Created))
	late := median(phase(t, env, 100, record.Request, record.Created))
	if r := late / early; r < 1.2 {
		t.Errorf("after 100 trials times have grown by a factor of %.3f only", r)
	}
}

func TestForeignClock(t *testing.T) {
	res := run(t, open(t, fake.New(), "a", "foreign"))
	p, err := probe.ParsePayload(res.Stdout, "w")
	if err != nil || p.First < res.Events[record.Removed] || p.Done < p.First {
		t.Errorf("inside %+v, outside %v, %v", p, res.Events, err)
	}
}

func BenchmarkTrial(b *testing.B) {
	env, err := fake.New().Open(b.Context(), nil, engine.Spec{ID: "a"})
	require.NoError(b, err)
	args := probe.PayloadArgs{Word: "w"}
	task := engine.Task{Name: "n", Argv: args.Argv(image.ProbePath), Limit: time.Second}
	for b.Loop() {
		if _, err := env.Run(b.Context(), task); err != nil {
			b.Fatal(err)
		}
	}
}
