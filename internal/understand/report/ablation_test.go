package report

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/golden"
	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/ablation"
	"plimsoll/internal/understand/analyze/sample"
)

func ms(v, half float64) *sample.Estimate {
	lo, hi := (v-half)*1e6, (v+half)*1e6
	return &sample.Estimate{Value: v * 1e6, Lo: &lo, Hi: &hi}
}

// waterfall is made up, with everything that there can be.
func waterfall() *analyze.Result {
	after := func(env string, v float64) *ablation.Level { return &ablation.Level{Env: env, Median: ms(v, 1)} }
	return &analyze.Result{Run: analyze.RunInfo{Repeat: "plimsoll ablate engine --blocks 20 --seed 1"}, Ablations: []*ablation.Waterfall{{
		Engine: "engine", Workload: "hello", Metric: record.Metric{ID: "startup", Title: "start-up", Unit: "ns", From: record.Request, To: record.Ready}, Blocks: 20,
		Base: ablation.Level{Env: "engine/a", Median: ms(100, 4)}, Floor: *after("floor", 1), Nothing: ms(0.3, 4), Whole: ms(99, 4), Rest: 3e6,
		Steps: []ablation.Step{
			{Kind: ablation.Mechanism, Of: "engine", Mechanism: "network", Title: "the engine's network", Price: "nobody reaches it", Chain: ms(50, 5), Share: 0.5, After: after("engine/a-b", 50), Alone: ms(48, 6)},
			{Kind: ablation.Mechanism, Of: "engine", Mechanism: "network-namespace", Title: "a network namespace", Price: "it shares the host's", Chain: ms(10, 2), Share: 0.1, After: after("engine/a-b-c", 40), Alone: ms(20, 2), Given: "network", Together: ms(-10, 3)},
			{Kind: ablation.Mechanism, Of: "engine", Mechanism: "seccomp", Title: "a filter", Price: "every call", Chain: ms(0.5, 2), Share: 0.005, After: after("engine/a-b-c-d", 39.5), Alone: ms(-1, 4)},
			{Kind: ablation.Mechanism, Of: "engine", Mechanism: "cgroup-namespace", Missing: "on cgroup v1 there is <none>"},
			{Kind: ablation.Engine, Of: "engine", Mechanism: "low", Missing: "it could not be opened"},
			{Kind: ablation.Mechanism, Of: "low", Mechanism: "keyring", Chain: ms(20, 2), Share: 0.2, After: after("low-keyring", 19.5), Includes: []string{"low"}},
			{Kind: ablation.Last, Of: "low", Mechanism: "floor", Chain: ms(18.5, 1), Share: 0.185, After: after("floor", 1)},
		},
		HeldOut: []ablation.HeldOut{
			{Env: "x", Mechanisms: []string{"network", "seccomp"}, Measured: ms(52, 2), Off: ms(1, 3), Fits: true},
			{Env: "y", Mechanisms: []string{"network", "network-namespace"}, Measured: ms(52, 2), Off: ms(20, 3)},
			{Env: "z", Mechanisms: []string{"keyring", "seccomp"}, Missing: "it could not be opened"},
		},
	}}}
}

func TestAblation(t *testing.T) {
	for name, opts := range map[string]Options{"ablation.text": {Width: 130}, "ablation.80.text": {Width: 80, ASCII: true}, "ablation.60.text": {Width: 60}, "ablation.markdown": {}} {
		var b bytes.Buffer
		require.NoError(t, Ablations.Write(&b, name[strings.LastIndex(name, ".")+1:], waterfall(), opts))
		golden.Check(t, "testdata/"+name, b.String())
	}
	var b bytes.Buffer
	require.NoError(t, Ablations.Write(&b, "json", waterfall(), Options{}))
	var back []ablation.Waterfall
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || len(back) != 1 || len(back[0].Steps) != 7 {
		t.Errorf("%v: %s", err, b.String())
	}
	// What the timeline says beside it: where it agrees, where not, and where it was not asked.
	seen, told := waterfall(), &record.Timeline{Engine: "engine", Workload: "hello", Metric: "startup", Starts: 10, Mechanisms: []record.Observed{
		{Mechanism: "network", With: 101e6, Without: 52e6, Gone: 47e6, Else: 2e6, Steps: []record.ObservedStep{
			{Name: "daemon: iptables <a>", With: 30e6}, {Name: "daemon: fsync", With: 5e6, Without: 3e6}}},
		{Mechanism: "network-namespace", With: 52e6, Without: 32e6, Gone: 3e6, Else: 17e6, Lo: 12e6, Hi: 29e6, Kinds: []record.ObservedKind{{Kind: record.WorkStep, NS: 20e6}, {Kind: record.GraceStep, NS: -4e6}, {Kind: record.WaitStep, NS: 1e6}}, Steps: []record.ObservedStep{
			{Name: "daemon: page faults", With: 25e6, Without: 8e6}}},
		{Mechanism: "runtime", With: 52e6, Without: 32e6, Gone: 13e6, Else: 7e6, Steps: []record.ObservedStep{
			{Name: "daemon: prctl", With: 13e6}, {Name: "daemon: page faults", With: 15e6, Without: 8e6}}},
		{Mechanism: "log-file", With: 121e6, Without: 101e6, Gone: 19e6, Else: 1e6, Steps: []record.ObservedStep{{Name: "conmon: a pause", With: 19e6}}},
		{Mechanism: "group-making", With: 52e6, Without: 41e6, Gone: 9e6, Else: 2e6, Lo: 10e6, Hi: 12e6, PlainLo: 8e6, PlainHi: 13e6, Steps: []record.ObservedStep{{Name: "daemon: waits for a grace period", With: 9e6}}},
		{Mechanism: "client", With: 52e6, Without: 51e6, Gone: -1e6, Else: 2e6, Lo: -8e6, Hi: 9e6, Kinds: []record.ObservedKind{{Kind: record.ProcessorStep, NS: 2e6}}},
	}}
	w := seen.Ablations[0]
	w.Steps = slices.Insert(w.Steps, 3, ablation.Step{Kind: ablation.Mechanism, Of: "engine", Mechanism: "runtime", Title: "runc instead of crun", Price: "all else",
		Chain: ms(2, 1), Share: 0.02, After: &ablation.Level{Env: "engine/a-b-c-d-e", Median: ms(37.5, 1)}, Alone: ms(5, 2)})
	w.Steps = slices.Insert(w.Steps, 4, ablation.Step{Kind: ablation.Mechanism, Of: "engine", Mechanism: "client", Title: "a client's program", Price: "the API",
		Chain: ms(6, 3), Share: 0.06, After: &ablation.Level{Env: "engine/a-b-c-d-e-f", Median: ms(31.5, 1)}, Alone: ms(6, 3)})
	w.Steps = slices.Insert(w.Steps, 5, ablation.Step{Kind: ablation.Mechanism, Of: "engine", Mechanism: "group-making", Title: "a control group of its own", Price: "the group of another",
		Chain: ms(5, 1), Share: 0.05, After: &ablation.Level{Env: "engine/a-b-c-d-e-f-g", Median: ms(26.5, 1)}, Alone: ms(5, 1)})
	w.Added = []ablation.Step{{Kind: ablation.Addition, Of: "engine", Mechanism: "log-file", Title: "a log", Price: "it is kept", Alone: ms(20, 2)}}
	w.Observe(told)
	for name, opts := range map[string]Options{"ablation-observed.text": {Width: 100}, "ablation-observed.markdown": {}} {
		b.Reset()
		require.NoError(t, Ablations.Write(&b, name[strings.LastIndex(name, ".")+1:], seen, opts))
		golden.Check(t, "testdata/"+name, b.String())
	}
	b.Reset()
	require.NoError(t, Ablations.Write(&b, "json", seen, Options{}))
	for _, want := range []string{`"verdict": "elsewhere"`, `"unfollowed": "no cost is certain: the interval holds 0"`, `"same": 2`, `"verdict": "beside"`, `"plain_lo_ns": 8000000`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the JSON lacks %s:\n%s", want, b.String())
		}
	}
	// What is the same only inside a wide interval says by how much it is off; and what
	// tracing cost, and lacks, is told.
	wide := waterfall()
	wide.Ablations[0].Steps[0].Alone = ms(48, 30)
	wide.Ablations[0].Observe(&record.Timeline{Engine: "engine", Workload: "hello", Metric: "startup", Starts: 10, Overhead: 1.034, Lost: 2, Mechanisms: []record.Observed{
		{Mechanism: "network", With: 101e6, Without: 70e6, Gone: 31e6, Steps: []record.ObservedStep{{Name: "daemon: iptables", With: 30e6}}}}})
	b.Reset()
	require.NoError(t, Ablations.Write(&b, "text", wide, Options{Width: 2000}))
	for _, want := range []string{"say the same in 1 (in 1 of them only inside the cost's interval); 2 more not followed.", "17.0 less than it costs, and inside its interval; daemon: iptables: 30.0 → gone",
		"Tracing makes these starts 1.034 × as long. The kernel had no room for 2 events: what they would have shown is missing."} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, b.String())
		}
	}
	// Where no cost is certain, none is followed.
	none := waterfall()
	none.Ablations[0].Steps = none.Ablations[0].Steps[2:4]
	none.Ablations[0].Observe(&record.Timeline{Engine: "engine", Workload: "hello", Metric: "startup", Starts: 10})
	b.Reset()
	require.NoError(t, Ablations.Write(&b, "text", none, Options{Width: 100}))
	for _, want := range []string{"No start was followed, since of no mechanism the cost is certain", "Not followed: seccomp (no cost is certain: the interval holds 0)."} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, b.String())
		}
	}
	// One of few blocks has no intervals, and nothing is then said to be saved.
	few := waterfall()
	for i := range few.Ablations[0].Steps {
		s := &few.Ablations[0].Steps[i]
		for _, e := range []*sample.Estimate{s.Chain, s.Alone, s.Together} {
			if e != nil {
				e.Lo, e.Hi = nil, nil
			}
		}
	}
	b.Reset()
	if err := Ablations.Write(&b, "text", few, Options{}); err != nil || strings.Contains(b.String(), "can be saved") {
		t.Errorf("%v: %s", err, b.String())
	}
}

// What is added stands in a table of its own, and is marked among what is predicted.
func TestAdded(t *testing.T) {
	x := waterfall()
	w := x.Ablations[0]
	w.Added = []ablation.Step{
		{Kind: ablation.Addition, Of: "engine", Mechanism: "init", Title: "an init as PID 1", Price: "orphans are reaped", Alone: ms(12, 2)},
		{Kind: ablation.Addition, Of: "engine", Mechanism: "journal", Missing: "there is no <journal>"},
	}
	w.HeldOut = append(w.HeldOut, ablation.HeldOut{Env: "v", Mechanisms: []string{"init", "network"}, Measured: ms(64, 2), Off: ms(1, 3), Fits: true})
	var b bytes.Buffer
	require.NoError(t, Ablations.Write(&b, "text", x, Options{Width: 100}))
	for _, want := range []string{"What can be added", "init     12 [10, 14]", "an init as PID 1: orphans are reaped", "n/a: there is no", "+init, network"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
	// Where nothing was taken away, there is no sum of steps to miss.
	w.Steps, w.Floor, w.Whole, w.Rest = nil, w.Base, ms(0, 0), 0
	b.Reset()
	require.NoError(t, Ablations.Write(&b, "text", x, Options{Width: 100}))
	if s := b.String(); strings.Contains(s, "add up") || !strings.Contains(s, "What can be added") {
		t.Error(s)
	}
}

// A running workload's rate: what the engine costs it, with the interval; and memory,
// part by part.
func TestRunningAblation(t *testing.T) {
	est := func(v, half float64) *sample.Estimate {
		lo, hi := v-half, v+half
		return &sample.Estimate{Value: v, Lo: &lo, Hi: &hi}
	}
	level := func(env string, v float64) *ablation.Level { return &ablation.Level{Env: env, Median: est(v, v/100)} }
	calls := &ablation.Waterfall{Engine: "engine", Workload: "syscalls", Metric: record.Metric{ID: "calls", Title: "calls", Unit: "ops/s", Better: record.HigherIsBetter},
		Blocks: 12, Base: *level("engine/a", 950), Floor: *level("native", 1000), Nothing: est(1, 4), Whole: est(50, 6), Steps: []ablation.Step{
			{Kind: ablation.Mechanism, Of: "engine", Mechanism: "seccomp", Title: "a filter", Price: "every call", Chain: est(40, 5), Share: 0.04, After: level("engine/a-b", 990), Alone: est(38, 6)},
			{Kind: ablation.Bare, Of: "engine", Mechanism: "native", Chain: est(10, 12), Share: 0.01, After: level("native", 1000)},
		}, HeldOut: []ablation.HeldOut{{Env: "x", Mechanisms: []string{"network", "seccomp"}, Measured: est(985, 5), Off: est(-9, 3)}}}
	part := func(id, title string, base, network, end float64) *ablation.Waterfall {
		return &ablation.Waterfall{Metric: record.Metric{ID: record.DensityPart + id, Title: title, Unit: "bytes"}, Base: *level("engine/a", base), Floor: *level("low", end),
			Steps: []ablation.Step{{Chain: est(network, 20<<10)}, {}}}
	}
	memory := part("", "footprint", 3.4*(1<<20), 0.5*(1<<20), 2.9*(1<<20))
	memory.Engine, memory.Workload, memory.Whole, memory.Blocks = "engine", "density", est(0.5*(1<<20), 40<<10), 6
	memory.Steps[0] = ablation.Step{Kind: ablation.Mechanism, Of: "engine", Mechanism: "network", Chain: est(0.5*(1<<20), 40<<10), Share: 0.15, After: level("engine/a-b", 2.9*(1<<20))}
	memory.Steps[1] = ablation.Step{Kind: ablation.Engine, Of: "engine", Mechanism: "low", Missing: "it could not be opened"}
	memory.Parts = []*ablation.Waterfall{part("payload", "payload", 11<<10, 0, 11<<10), part("monitor", "monitor", 2.4*(1<<20), 0, 2.4*(1<<20)), part("kernel", "kernel", 1<<20, 0.5*(1<<20), 0.5*(1<<20)),
		part("free", "not free", 4*(1<<20), 0.6*(1<<20), 3.4*(1<<20))}
	res := &analyze.Result{Run: analyze.RunInfo{Repeat: "plimsoll ablate engine syscalls --blocks 12 --seed 1"}, Ablations: []*ablation.Waterfall{calls, memory}}
	for name, opts := range map[string]Options{"ablation-running.text": {Width: 110}, "ablation-running.markdown": {}} {
		var b bytes.Buffer
		require.NoError(t, Ablations.Write(&b, name[strings.LastIndex(name, ".")+1:], res, opts))
		golden.Check(t, "testdata/"+name, b.String())
	}
}
