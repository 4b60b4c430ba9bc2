package advise

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/analyze/sample"
)

// metric makes a metric of a workload's own.
func metric(id string, better record.Direction) record.Metric {
	return record.Metric{ID: id, Unit: "ops/s", Better: better, Title: id}
}

// env makes an environment that has everything, with a start-up and values.
func env(id string, startUp time.Duration, values map[string]float64) recordtest.Env {
	e := recordtest.Env{StartUp: startUp, Values: values}
	e.Environment = record.Environment{ID: id, Engine: strings.Split(id, "/")[0], Clock: record.ClockShared,
		Facts: map[string]string{"rootless": "yes", "daemon": "none", "held": "engine", "limits": "engine", "network": "bridge", "runtime": "runc"}}
	e.Inside = inView("own", "2", "6.1.0")
	return e
}

func inView(userns, seccomp, kernel string) record.Inside {
	return record.Inside{Namespaces: map[string]string{"mnt": "own", "net": "own", "user": userns}, UID: "0:0", UIDMap: "0 0 1",
		CapEff: "0", CapBnd: "0", Seccomp: seccomp, NoNewPrivs: "0", Root: "overlay rw", Kernel: kernel}
}

func native(startUp time.Duration, values map[string]float64) recordtest.Env {
	e := env("native", startUp, values)
	e.Baseline = "native"
	return e
}

// spec is a run of hello and of a benchmark with a rate and a delay.
func spec(envs ...recordtest.Env) recordtest.Spec {
	return recordtest.Spec{Name: "made", Seed: 5, Blocks: 10, PerBlock: 1, Shared: 0.05, Envs: envs,
		Workloads: []record.Workload{
			{ID: "hello", Name: "hello", Title: "hello"},
			{ID: "bench/small", Name: "bench", Params: map[string]string{"size": "small"},
				Metrics: []record.Metric{metric("rate", record.HigherIsBetter), metric("delay", record.LowerIsBetter)}},
		}}
}

func read(t testing.TB, s recordtest.Spec) *analyze.Result {
	t.Helper()
	res, err := evaluate.Run(s.Open(t), evaluate.Options{})
	require.NoError(t, err)
	return res
}

// profile weighs start-up, rate and delay.
func profile(startUp, rate, delay float64) Profile {
	return Profile{Name: "made", Study: "made", Criteria: []Criterion{
		{Workload: "hello", Metric: "startup", Better: record.LowerIsBetter, Weight: startUp, Why: "a"},
		{Workload: "bench", Params: map[string][]string{"size": {"small"}}, Metric: "rate", Better: record.HigherIsBetter, Weight: rate, Why: "b"},
		{Workload: "bench", Metric: "delay", Better: record.LowerIsBetter, Weight: delay, Why: "c"},
	}}
}

func advice(t testing.TB, p Profile, results ...*analyze.Result) *Advice {
	t.Helper()
	a, err := Run(results, nil, p, Options{Draws: 200})
	require.NoError(t, err)
	return a
}

const ms = time.Millisecond

// three has one environment that starts fast, one that works fast and one
// that is between.
func three() recordtest.Spec {
	v := func(rate, delay float64) map[string]float64 { return map[string]float64{"rate": rate, "delay": delay} }
	return spec(native(ms, v(100, 10)), env("quick", 10*ms, v(20, 40)), env("strong", 200*ms, v(95, 11)), env("middle", 50*ms, v(50, 20)))
}

func TestKnownBest(t *testing.T) {
	res := read(t, three())
	for _, c := range []struct {
		p    Profile
		want string
	}{
		{profile(1, 0, 0), "quick middle strong"},
		{profile(0, 1, 0), "strong middle quick"},
		{profile(0, 0, 1), "strong middle quick"},
		{profile(5, 1, 1), "quick middle strong"},
		{profile(1, 5, 5), "strong middle quick"},
	} {
		a := advice(t, c.p, res)
		var got []string
		for i, r := range a.Ranked {
			got = append(got, r.Env)
			if want := string(rune('a' + i)); r.Group != want {
				t.Errorf("%s has group %q, want %q", r.Env, r.Group, want)
			}
		}
		if strings.Join(got, " ") != c.want || a.Verdict.Outcome != First || len(a.Verdict.Leaders) != 1 || a.Verdict.Measured != 1 {
			t.Errorf("ranked %v, want %s; verdict %+v", got, c.want, a.Verdict)
		}
	}
	// The score is the weighted geometric mean of the ratios to native.
	a := advice(t, profile(2, 1, 1), res)
	for _, r := range a.Ranked {
		want := map[string]float64{"quick": math.Pow(10*10*5*4, 0.25), "strong": math.Pow(200*200*100./95*1.1, 0.25), "middle": math.Pow(50*50*2*2, 0.25)}[r.Env]
		cost := 1.0
		for _, m := range r.Measured {
			cost *= m.Cost
		}
		if r.Score.Lo == nil || want < *r.Score.Lo*0.98 || want > *r.Score.Hi*1.02 || math.Abs(cost-r.Score.Value) > 1e-9*cost {
			t.Errorf("%s has the score %+v (product of the costs %g), want %g", r.Env, r.Score, cost, want)
		}
	}
	if !reflect.DeepEqual(a, advice(t, profile(2, 1, 1), res)) {
		t.Error("the same data give another advice")
	}
}

// A number stands in the advice as in a report.
func TestNumbersAreTheReports(t *testing.T) {
	res := read(t, three())
	a := advice(t, profile(1, 1, 1), res)
	n := 0
	for _, r := range a.Ranked {
		for _, m := range r.Measured {
			c := a.Criteria[m.Criterion]
			cell := res.Workload(c.Workload).Table(c.Metric.ID).Cell(r.Env)
			if !reflect.DeepEqual(m.Median, *cell.Median) || m.N != cell.N || !reflect.DeepEqual(*m.Ratio, cell.Ratio("native").Estimate) || c.Run != res.Run.ID {
				t.Errorf("%s, %s: %+v, the report has %+v", r.Env, c.Metric.ID, m, cell)
			}
			n++
		}
	}
	if n != 9 {
		t.Errorf("%d numbers", n)
	}
}

func TestFrontIsSure(t *testing.T) {
	v := func(rate, delay float64) map[string]float64 { return map[string]float64{"rate": rate, "delay": delay} }
	// worse is worse in everything, close is worse by less than matters in one
	// and better in none, other is better in one.
	res := read(t, spec(native(ms, v(100, 10)), env("best", 10*ms, v(90, 12)), env("worse", 20*ms, v(45, 24)),
		env("close", 10*ms, v(88, 12.2)), env("other", 30*ms, v(30, 6))))
	a := advice(t, profile(1, 1, 1), res)
	by := map[string][]string{}
	for _, r := range a.Ranked {
		by[r.Env] = r.DominatedBy
		if r.Front != (len(r.DominatedBy) == 0) {
			t.Errorf("%s: front %v, dominated by %v", r.Env, r.Front, r.DominatedBy)
		}
	}
	if len(by["best"])+len(by["close"])+len(by["other"]) != 0 || strings.Join(by["worse"], " ") != "best close" && strings.Join(by["worse"], " ") != "close best" {
		t.Errorf("dominated: %v", by)
	}
	for _, r := range a.Ranked {
		want := map[string][3]Stand{"best": {For, For, Neutral}, "worse": {Neutral, Neutral, Against}, "other": {Against, Against, For}}
		if w, ok := want[r.Env]; ok {
			for i, m := range r.Measured {
				if m.Stand != w[i] {
					t.Errorf("%s, criterion %d stands %s, want %s", r.Env, i, m.Stand, w[i])
				}
			}
		}
	}
	// With few blocks nothing is sure.
	s := spec(native(ms, v(100, 10)), env("best", 10*ms, v(90, 12)), env("worse", 20*ms, v(45, 24)))
	s.Blocks = 3
	a = advice(t, profile(1, 1, 1), read(t, s))
	if len(a.Ranked) != 2 || !a.Ranked[1].Front || a.Ranked[0].Score.Lo != nil || a.Verdict.Outcome != CannotTell || len(a.Verdict.Decide) != 1 ||
		a.Verdict.Decide[0] != "plimsoll run made --blocks 20" {
		t.Errorf("3 blocks: %+v, verdict %+v", a.Ranked, a.Verdict)
	}
}

// What is better by the estimates alone dominates nobody: neither where it may
// be worse in one criterion, nor where it may be better in none.
func TestDominanceIsOfWholeIntervals(t *testing.T) {
	a := &Advice{Profile: Profile{Matters: 0.05}}
	col := func(worse, lo, value, hi, holm float64) *column {
		p := &analyze.Pair{A: "x", B: "y", Holm: &holm, Comparison: analyze.Comparison{Estimate: sample.Estimate{Value: value, Lo: &lo, Hi: &hi}}}
		return &column{worse: worse, pairs: map[[2]string]*analyze.Pair{{"x", "y"}: p}}
	}
	same := col(1, 0.99, 1, 1.01, 1)
	for i, c := range []struct {
		other *column
		want  bool
	}{
		{col(1, 0.7, 0.8, 0.9, 0.01), true},
		{col(-1, 1.1, 1.2, 1.3, 0.01), true},   // of which more is better
		{col(-1, 0.7, 0.8, 0.9, 0.01), false},  // so that less is worse
		{col(1, 0.7, 0.8, 0.97, 0.01), false},  // perhaps better by less than matters
		{col(1, 0.7, 0.8, 0.9, 0.06), false},   // perhaps by chance, of so many
		{col(1, 0.99, 1.02, 1.06, 0.5), false}, // perhaps worse
		{col(1, 0.5, 0.8, 1.2, 0.5), false},
		{&column{worse: 1}, false}, // nobody knows
	} {
		if got := a.dominates([]*column{same, c.other}, "x", "y"); got != c.want {
			t.Errorf("case %d: %v", i, got)
		}
		// Beside one that is surely better it must not be worse anywhere.
		sure := col(1, 0.4, 0.5, 0.6, 0.001)
		hi := 0.0
		if e, _ := c.other.versus("x", "y"); e != nil {
			hi = *e.Hi
		}
		if got := a.dominates([]*column{c.other, sure}, "x", "y"); got != (hi > 0 && hi <= 1.05) {
			t.Errorf("case %d beside one that is surely better: %v", i, got)
		}
		if a.dominates([]*column{same, c.other}, "y", "x") && c.want {
			t.Errorf("case %d: each dominates the other", i)
		}
	}
}

func TestTies(t *testing.T) {
	v := map[string]float64{"rate": 90, "delay": 12}
	twins := spec(native(ms, v), env("a", 20*ms, v), env("b", 20*ms, v), env("slow", 80*ms, v))
	a := advice(t, profile(1, 1, 1), read(t, twins))
	if a.Verdict.Outcome != Tie || len(a.Verdict.Leaders) != 2 || a.Ranked[0].Group != a.Ranked[1].Group || a.Ranked[2].Group == a.Ranked[0].Group {
		t.Errorf("%+v", a.Verdict)
	}
	if !a.Verdict.Practical || len(a.Verdict.Decide) != 0 {
		t.Errorf("twins within 5 %%: %+v", a.Verdict)
	}
	// Where less matters, more blocks would have to decide.
	p := profile(1, 1, 1)
	p.Matters = 0.001
	a = advice(t, p, read(t, twins))
	if a.Verdict.Practical || len(a.Verdict.Decide) != 1 {
		t.Errorf("twins within 0.1 %%: %+v", a.Verdict)
	}
}
