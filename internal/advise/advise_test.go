package advise

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/analyze"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
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
	res, err := analyze.Run(s.Open(t), analyze.Options{})
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
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

func TestUnknownData(t *testing.T) {
	v := map[string]float64{"rate": 90, "delay": 12}
	s := spec(native(ms, v), env("whole", 20*ms, v), env("mute", 10*ms, map[string]float64{"rate": 95}), env("broken", 0, nil))
	s.Envs[3].FailEvery, s.Envs[3].Class = 1, record.Unsupported
	s.Excluded = []record.Excluded{{ID: "absent", Engine: "absent", Kind: "unavailable", Reason: "it is not installed", Fix: "make lab"},
		{ID: "never", Engine: "never", Kind: "impossible", Reason: "it can't be"}}
	res := read(t, s)
	a := advice(t, profile(1, 1, 1), res)
	if len(a.Ranked) != 1 || a.Ranked[0].Env != "whole" || a.Sensitivity != nil {
		t.Errorf("ranked: %+v", a.Ranked)
	}
	apart := map[string]Apart{}
	for _, x := range a.Apart {
		apart[x.Env] = x
	}
	if l := apart["mute"].Lacks; len(l) != 1 || l[0].Metric != "delay" || l[0].Command != "plimsoll run made --engine mute" || len(apart["mute"].Known) != 2 {
		t.Errorf("mute: %+v", apart["mute"])
	}
	if l := apart["broken"].Lacks; len(l) != 3 || l[0].Command != "" || !strings.Contains(l[0].Reason, "unsupported") {
		t.Errorf("broken: %+v", apart["broken"])
	}
	if l := apart["absent"].Lacks; len(l) != 1 || l[0].Command != "make lab" || l[0].Workload != "" {
		t.Errorf("absent: %+v", apart["absent"])
	}
	if len(apart) != 3 {
		t.Errorf("apart: %v", apart)
	}

	// A criterion that no run has: there is no first place, whatever the rest says.
	p := profile(1, 1, 2)
	p.Criteria = append(p.Criteria, Criterion{Workload: "density", Metric: "footprint", Better: record.LowerIsBetter, Weight: 4, Why: "d"})
	a, err := Run([]*analyze.Result{res}, nil, p, Options{Known: map[string][]string{"density": {"footprint"}}})
	if err != nil {
		t.Fatal(err)
	}
	if a.Verdict.Outcome != CannotTell || len(a.Verdict.Leaders) != 1 || a.Verdict.Measured != 0.5 || len(a.Verdict.Decide) != 1 || a.Verdict.Decide[0] != "plimsoll run made" {
		t.Errorf("%+v", a.Verdict)
	}
	if c := a.Criteria[3]; c.Missing == "" || c.Share != 0 || a.Criteria[2].Share != 0.5 {
		t.Errorf("%+v", a.Criteria)
	}

	// Nor is there one where those who have data may not be chosen.
	p = profile(1, 1, 1)
	p.Require = []Demand{{Is: []string{"vm-isolation"}, Why: "e"}}
	a = advice(t, p, res)
	if a.Verdict.Outcome != Nobody || len(a.Ranked) != 0 || len(a.Refused) != 3 || len(a.Verdict.Leaders) != 0 {
		t.Errorf("%+v, refused %+v", a.Verdict, a.Refused)
	}
}

// A second run can bring a criterion that the first lacks; its blocks are its own.
func TestSeveralRuns(t *testing.T) {
	v := map[string]float64{"rate": 90, "delay": 12}
	fast, strong := env("fast", 10*ms, map[string]float64{"rate": 40, "delay": 30}), env("strong", 20*ms, v)
	all := spec(native(ms, v), fast, strong)
	hello, bench := all, all
	hello.Workloads, bench.Workloads = all.Workloads[:1], all.Workloads[1:]
	hello.Blocks = 7
	a := advice(t, profile(1, 2, 2), read(t, hello), read(t, bench))
	if len(a.Ranked) != 2 || a.Ranked[0].Env != "strong" || a.Verdict.Outcome != First || a.Ranked[0].Blocks != 7 || a.Pairs[0].P == nil || a.Criteria[0].Missing != "" {
		t.Errorf("%+v, verdict %+v", a.Ranked, a.Verdict)
	}
	// What one of the runs says against an environment counts.
	second := bench
	second.Envs = []recordtest.Env{all.Envs[0], fast, env("strong", 20*ms, v)}
	second.Envs[2].Facts["rootless"] = "no"
	p := profile(1, 2, 2)
	p.Require = []Demand{{Is: []string{"rootless"}}}
	if a := advice(t, p, read(t, hello), read(t, second)); len(a.Ranked) != 1 || len(a.Refused) != 1 || a.Refused[0].Env != "strong" {
		t.Errorf("ranked %+v, refused %+v", a.Ranked, a.Refused)
	}
	if a := advice(t, profile(1, 0.1, 0.1), read(t, hello), read(t, bench)); a.Ranked[0].Env != "fast" {
		t.Errorf("%+v", a.Ranked)
	}
}

// Without a baseline the mean of those ranked takes its place, and changes
// nothing about their order or their pairs.
func TestWithoutBaseline(t *testing.T) {
	s := three()
	with := advice(t, profile(2, 1, 1), read(t, s))
	s.Envs = s.Envs[1:]
	without := advice(t, profile(2, 1, 1), read(t, s))
	if without.Criteria[0].Reference != MeanReference || with.Criteria[0].Reference != "native" {
		t.Errorf("references %s and %s", without.Criteria[0].Reference, with.Criteria[0].Reference)
	}
	product := 1.0
	for i := range without.Ranked {
		product *= without.Ranked[i].Score.Value
		if without.Ranked[i].Env != with.Ranked[i].Env || without.Ranked[i].Measured[0].Ratio != nil {
			t.Errorf("%s is in the place of %s", without.Ranked[i].Env, with.Ranked[i].Env)
		}
	}
	if math.Abs(product-1) > 1e-9 {
		t.Errorf("scores against their own mean multiply to %g", product)
	}
}

func TestMistakes(t *testing.T) {
	res := read(t, three())
	for want, change := range map[string]func(*Profile){
		`my.yaml:3:5: no workload "hallo": there is bench, bench/small, hello`: func(p *Profile) { p.Criteria[0].Workload, p.Criteria[0].Where = "hallo", "my.yaml:3:5" },
		`no metric of bench "rat": there is `:                                  func(p *Profile) { p.Criteria[1].Metric = "rat" },
		`no property "rotless": there is rootless`:                             func(p *Profile) { p.Prefer = []Demand{{Is: []string{"rotless"}}} },
		`of rate higher is better, and the profile says better: lower`:         func(p *Profile) { p.Criteria[1].Better = record.LowerIsBetter },
		`no criterion has a weight above 0`:                                    func(p *Profile) { p.Criteria = p.Criteria[:1]; p.Criteria[0].Weight = 0 },
	} {
		p := profile(1, 1, 1)
		change(&p)
		if _, err := Run([]*analyze.Result{res}, nil, p, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant\n%s", err, want)
		}
	}
	if _, err := Run(nil, nil, profile(1, 1, 1), Options{}); err == nil {
		t.Error("no run gives no error")
	}
}
