package advise

import (
	"math"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
)

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
	require.NoError(t, err)
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
	// A run that has nothing to say of a property takes nothing back: neither what
	// holds nor what does not.
	mute := bench
	mute.Envs = []recordtest.Env{all.Envs[0], env("fast", 10*ms, map[string]float64{"rate": 40, "delay": 30}), env("strong", 20*ms, v)}
	for i := range mute.Envs {
		mute.Envs[i].Facts, mute.Envs[i].Inside = nil, record.Inside{}
	}
	p.Require = []Demand{{Is: []string{"rootless"}}, {Is: []string{"syscall-filter"}}}
	for _, runs := range [][]*analyze.Result{{read(t, hello), read(t, mute)}, {read(t, mute), read(t, hello)}} {
		a := advice(t, p, runs...)
		if len(a.Ranked) != 2 || len(a.Refused) != 0 || len(a.Ranked[0].Require[0].Facts) != 1 {
			t.Errorf("ranked %+v, refused %+v", a.Ranked, a.Refused)
		}
	}
	p.Require = p.Require[:1]
	hello.Envs = second.Envs
	if a := advice(t, p, read(t, mute), read(t, hello)); len(a.Ranked) != 1 || len(a.Refused) != 1 || a.Refused[0].Require[0].State != No {
		t.Errorf("ranked %+v, refused %+v", a.Ranked, a.Refused)
	}
	hello.Envs = mute.Envs
	if a := advice(t, p, read(t, mute), read(t, hello)); len(a.Ranked) != 0 || len(a.Refused) != 2 || a.Refused[0].Require[0].State != Unknown {
		t.Errorf("ranked %+v, refused %+v", a.Ranked, a.Refused)
	}
	hello.Envs = all.Envs
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

// What weakens the whole is remarked.
func TestRemarks(t *testing.T) {
	here, there, gated := read(t, three()), read(t, three()), read(t, three())
	there.Run.Host.CPU = "another"
	gated.Run.Gate = &record.Gate{}
	gated.Remarks = append(gated.Remarks, record.Remark{Code: "mine", Level: "warn", Workload: "hello", Metric: "startup", Env: "quick"},
		record.Remark{Code: "other-metric", Level: "warn", Workload: "hello", Metric: "whole", Env: "quick"},
		record.Remark{Code: "baseline", Level: "warn", Workload: "hello", Metric: "startup", Env: "native"}, record.Remark{Code: "small", Level: "info"})
	for want, c := range map[string]struct {
		runs     []*analyze.Result
		features *record.Features
	}{
		"no-features":            {[]*analyze.Result{here}, nil},
		"":                       {[]*analyze.Result{here}, &record.Features{Host: here.Run.Host}},
		"features-elsewhere":     {[]*analyze.Result{here}, &record.Features{Host: there.Run.Host, Rows: nil}},
		"machines no-features":   {[]*analyze.Result{here, there}, nil},
		"no-features gated mine": {[]*analyze.Result{gated}, nil},
	} {
		if c.features != nil && want != "" {
			c.features.Host.Name = "elsewhere"
		}
		a, err := Run(c.runs, c.features, profile(1, 1, 1), Options{Draws: 10})
		require.NoError(t, err)
		var got []string
		for _, m := range a.Remarks {
			got = append(got, m.Code)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("remarks %v, want %s", got, want)
		}
	}
}
