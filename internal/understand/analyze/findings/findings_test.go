package findings_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/analyze/findings"
)

// truths are the true values of the cells of a run for claims: by environment,
// workload and metric.
type truths map[string]float64

// claimRun has two images of docker, one of podman and charliecloud, native, a
// workload with a metric of its own and one of two sizes.
func claimRun(v truths, noise float64, change func(*recordtest.Cells)) recordtest.Cells {
	c := recordtest.Cells{Noise: noise, Spec: recordtest.Spec{Name: "claims", Seed: 5, Blocks: 10, PerBlock: 1}}
	add := func(id, engine, baseline string, levels ...string) {
		m := map[string]string{}
		for i := 0; i+1 < len(levels); i += 2 {
			m[levels[i]] = levels[i+1]
		}
		c.Envs = append(c.Envs, recordtest.Environment(id, engine, baseline, m))
	}
	add("native", "native", "native")
	add("docker/alpine", "docker", "", "image", "alpine")
	add("docker/debian", "docker", "", "image", "debian")
	add("podman/alpine", "podman", "", "image", "alpine")
	add("podman/debian", "podman", "", "image", "debian")
	add("charliecloud", "charliecloud", "", "storage", "directory")
	speed := record.Metric{ID: "speed", Unit: "ops/s", Better: record.HigherIsBetter, Title: "speed"}
	bytes := record.Metric{ID: "size", Unit: "bytes", Better: record.LowerIsBetter, Title: "size"}
	change4k := record.Metric{ID: "change", Unit: "bytes", Better: record.LowerIsBetter, Title: "change"}
	c.Workloads = []record.Workload{
		{ID: "hello", Name: "hello"},
		{ID: "work/small", Name: "work", Params: map[string]string{"size": "small", "files": "own"}, Metrics: []record.Metric{speed, bytes, change4k}},
		{ID: "work/large", Name: "work", Params: map[string]string{"size": "large", "files": "own"}, Metrics: []record.Metric{speed, bytes, change4k}},
	}
	c.Value = func(e *record.Environment, w *record.Workload, metric string) (float64, bool) {
		for _, k := range []string{e.ID + " " + w.ID + " " + metric, e.Engine + " " + w.ID + " " + metric, e.Engine + " " + metric, metric} {
			if x, ok := v[k]; ok {
				return x, true
			}
		}
		return 0, false
	}
	if change != nil {
		change(&c)
	}
	return c
}

func of(levels ...string) map[string][]string {
	m := map[string][]string{}
	for i := 0; i+1 < len(levels); i += 2 {
		m[levels[i]] = strings.Split(levels[i+1], ",")
	}
	return m
}

func choice(name string, params ...string) record.WorkloadChoice {
	c := record.WorkloadChoice{Names: []string{name}}
	if len(params) > 0 {
		c.Params = of(params...)
	}
	return c
}

func below(v float64) *record.Range { return &record.Range{Text: "< x", Max: &v, MaxOpen: true} }
func within(a, b float64) *record.Range {
	return &record.Range{Text: "a..b", Min: &a, Max: &b}
}

func finding(t *testing.T, c recordtest.Cells, tests ...record.ClaimTest) analyze.Finding {
	t.Helper()
	c.Claims = []record.Claim{{ID: "t/1", Says: "It is so.", Tests: tests}}
	res, err := evaluate.Run(c.Open(t), evaluate.Options{})
	require.NoError(t, err)
	if res.Findings == nil || len(res.Findings.Claims) != 1 {
		t.Fatalf("%+v", res.Findings)
	}
	return res.Findings.Claims[0]
}

// base are values at which nothing differs.
var base = truths{"startup": 1e8, "speed": 1000, "size": 5e6, "change": -1e6}

func with(more truths) truths {
	out := truths{}
	maps.Copy(out, base)
	maps.Copy(out, more)
	return out
}

// Each of the four verdicts comes out of a run that supports, contradicts,
// blurs or lacks the claim, for each form of test.
func TestFourVerdicts(t *testing.T) {
	faster := record.ClaimTest{Of: of("engine", "charliecloud"), To: of("engine", "docker,podman"), Workload: choice("hello"), Metric: "startup", Ratio: below(1)}
	native := record.ClaimTest{Of: of("engine", "docker"), Baseline: "native", Workload: choice("work", "size", "small"), Metric: "speed", Ratio: below(0.9)}
	vary := record.ClaimTest{Of: of("engine", "docker"), Vary: "image", Workload: choice("hello"), Metric: "startup", Ratio: within(0.9, 1.1)}
	value := record.ClaimTest{Of: of("engine", "docker"), Workload: choice("work", "size", "small"), Metric: "size", Value: within(4e6, 6e6)}
	signed := record.ClaimTest{Of: of("engine", "docker"), Workload: choice("work", "size", "small"), Metric: "change", Value: below(1e6)}
	works := record.ClaimTest{Of: of("engine", "docker"), Workload: choice("work", "size", "large"), Metric: "speed", Ratio: below(0.5)}
	small := choice("work", "size", "small")
	works.ToWorkload = &small
	other := record.ClaimTest{Of: of("engine", "docker"), Workload: choice("work", "size", "large"), Metric: "size", ToMetric: "change", Ratio: within(1, 3)}
	for _, c := range []struct {
		name           string
		test           record.ClaimTest
		pairs          int
		holds, not     truths
		blur           float64
		blurred        truths
		lacksWorkloads bool
	}{
		{"to", faster, 4, with(truths{"charliecloud startup": 1e6}), with(truths{"charliecloud startup": 3e8}), 0.5, with(truths{"charliecloud startup": 0.98e8}), false},
		{"native", native, 2, with(truths{"docker speed": 700}), with(truths{"docker speed": 990}), 0.5, with(truths{"docker speed": 880}), true},
		{"vary", vary, 1, base, with(truths{"docker/debian hello startup": 2e8}), 0.5, base, false},
		{"value", value, 2, base, with(truths{"docker size": 9e6}), 0.8, base, true},
		{"value that may be negative", signed, 2, base, with(truths{"docker change": 5e6}), 1, with(truths{"docker change": 0.9e6}), true},
		{"to-workload", works, 2, with(truths{"docker work/large speed": 300}), with(truths{"docker work/large speed": 900}), 0.5, with(truths{"docker work/large speed": 450}), true},
		{"to-metric", other, 2, with(truths{"change": 3e6}), with(truths{"change": 1e6}), 0.8, with(truths{"change": 4e6}), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			check := func(want analyze.ClaimVerdict, f analyze.Finding) {
				t.Helper()
				if f.Verdict != want {
					t.Errorf("%s, want %s: %s %+v", f.Verdict, want, f.Reason, f.Pairs)
				}
				if (f.Decides == nil) != (want == analyze.ClaimNotTested) || f.Reason == "" || want == analyze.ClaimNotTested && len(f.Without) == 0 {
					t.Errorf("%s: %+v", want, f)
				}
			}
			supported := finding(t, claimRun(c.holds, 0.02, nil), c.test)
			check(analyze.ClaimSupported, supported)
			if len(supported.Pairs) != c.pairs {
				t.Errorf("%d pairs, want %d: %+v", len(supported.Pairs), c.pairs, supported.Pairs)
			}
			check(analyze.ClaimContradicted, finding(t, claimRun(c.not, 0.02, nil), c.test))
			check(analyze.ClaimInconclusive, finding(t, claimRun(c.blurred, c.blur, nil), c.test))
			check(analyze.ClaimNotTested, finding(t, claimRun(c.holds, 0.02, func(r *recordtest.Cells) {
				if c.lacksWorkloads {
					r.Workloads = r.Workloads[:1]
				} else {
					r.Workloads = r.Workloads[1:]
				}
			}), c.test))
			check(analyze.ClaimNotTested, finding(t, claimRun(c.holds, 0.02, func(r *recordtest.Cells) {
				r.Envs = slices.DeleteFunc(r.Envs, func(e recordtest.Env) bool { return e.Engine == "docker" || e.Engine == "podman" })
			}), c.test))
			few := finding(t, claimRun(c.holds, 0.02, func(r *recordtest.Cells) { r.Blocks = 3 }), c.test)
			check(analyze.ClaimInconclusive, few)
			if !strings.Contains(few.Reason, "too few blocks") {
				t.Error(few.Reason)
			}
		})
	}
}

// Like is compared with like: images that both sides have are, others not.
func TestPairsAgree(t *testing.T) {
	test := record.ClaimTest{Of: of("engine", "docker"), To: of("engine", "podman"), Workload: choice("hello"), Metric: "startup", Ratio: below(2)}
	titles := func(f analyze.Finding) []string {
		var out []string
		for _, p := range f.Pairs {
			out = append(out, p.A.Env+" "+p.B.Env)
		}
		return out
	}
	run := claimRun(base, 0.02, nil)
	if got := titles(finding(t, run, test)); !slices.Equal(got, []string{"docker/alpine podman/alpine", "docker/debian podman/debian"}) {
		t.Error(got)
	}
	test.Same = []string{"storage"} // which neither names
	if got := titles(finding(t, run, test)); len(got) != 4 {
		t.Error(got)
	}
	test.Same, test.To = nil, of("engine", "podman", "image", "debian,ubuntu")
	if got := titles(finding(t, run, test)); len(got) != 2 {
		t.Errorf("%v: the image is named, so that it need not agree", got)
	}
	lacks := claimRun(base, 0.02, func(r *recordtest.Cells) {
		r.Envs = slices.DeleteFunc(r.Envs, func(e recordtest.Env) bool { return e.ID == "podman/alpine" })
	})
	test.Of, test.To = of("engine", "docker,podman", "image", "alpine"), of("engine", "docker,podman", "image", "debian")
	for _, order := range []string{"docker,podman", "podman,docker"} {
		test.To["engine"] = strings.Split(order, ",")
		if got := titles(finding(t, lacks, test)); !slices.Equal(got, []string{"docker/alpine docker/debian"}) {
			t.Errorf("%v: both engines are named on both sides (%s)", got, order)
		}
	}
	vary := record.ClaimTest{Of: of("engine", "docker,podman,charliecloud"), Vary: "engine", Workload: choice("hello"), Metric: "startup", Ratio: below(2)}
	want := []string{"docker/alpine podman/alpine", "docker/alpine charliecloud", "docker/debian podman/debian", "docker/debian charliecloud", "podman/alpine charliecloud", "podman/debian charliecloud"}
	if got := titles(finding(t, run, vary)); !slices.Equal(got, want) {
		t.Error(got)
	}
}

// "default" is what was left to the engine, and so is what it says it is.
func TestDefaultLevel(t *testing.T) {
	e := record.Environment{Engine: "docker", Levels: map[string]string{"seccomp": "default"}, Facts: map[string]string{"storage": "overlay2"}}
	for _, c := range []struct {
		sel  map[string][]string
		want bool
	}{
		{of("engine", "docker"), true}, {of("engine", "podman"), false}, {of("seccomp", "default"), true}, {of("seccomp", "off"), false},
		{of("network", "default,none"), true}, {of("network", "none"), false}, {of("storage", "overlay2"), true}, {of("storage", "vfs"), false}, {nil, true},
	} {
		if got := findings.MatchesEnv(c.sel, &e); got != c.want {
			t.Errorf("%v: %v", c.sel, got)
		}
	}
	native := record.Environment{Engine: "native", Baseline: "native"}
	if findings.MatchesEnv(nil, &native) || !findings.MatchesEnv(of("engine", "native"), &native) {
		t.Error("a baseline is meant only where it is named")
	}
}

// A count that is the same in each block is no matter of chance.
func TestSameNumberEverywhere(t *testing.T) {
	test := record.ClaimTest{Of: of("engine", "docker"), To: of("engine", "podman"), Same: []string{"image"}, Workload: choice("work", "size", "small"), Metric: "size", Ratio: below(1)}
	if f := finding(t, claimRun(base, 0, nil), test); f.Verdict != analyze.ClaimContradicted {
		t.Errorf("%s: %s", f.Verdict, f.Reason)
	}
	test.Ratio = &record.Range{Text: "<= 1", Max: test.Ratio.Max}
	if f := finding(t, claimRun(base, 0, nil), test); f.Verdict != analyze.ClaimSupported {
		t.Errorf("%s: %s", f.Verdict, f.Reason)
	}
}

// What could not run is named with the plan's reason beside any verdict, and
// what failed with how it did; a test without a pair makes the verdict one of a part.
func TestWithout(t *testing.T) {
	test := record.ClaimTest{Of: of("engine", "charliecloud,sarus,lxd"), To: of("engine", "docker,podman,balena"), Workload: choice("hello"), Metric: "startup", Ratio: below(1)}
	run := claimRun(with(truths{"charliecloud startup": 1e6}), 0.02, func(c *recordtest.Cells) {
		c.Excluded = []record.Excluded{
			{ID: "sarus", Engine: "sarus", Kind: "unavailable", Reason: "sarus is not installed.", Fix: "install it"},
			{ID: "podman/alpine", Engine: "podman", Workload: "work/small", Kind: "impossible", Reason: "another workload"},
		}
		c.Envs = append(c.Envs, recordtest.Environment("lxd", "lxd", "", nil))
		c.Envs[len(c.Envs)-1].StartUp = 0
		c.Envs[len(c.Envs)-1].Class = record.EngineError
	})
	f := finding(t, run, test)
	if f.Verdict != analyze.ClaimSupported || f.Partly || len(f.Pairs) != 4 {
		t.Errorf("%s, %d pairs: %s", f.Verdict, len(f.Pairs), f.Reason)
	}
	var got []string
	for _, l := range f.Without {
		got = append(got, l.What+": "+l.Reason)
	}
	want := []string{"sarus: sarus is not installed", "lxd: hello: every trial failed", "balena: not in this run"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	second := record.ClaimTest{Of: of("engine", "balena"), To: of("engine", "docker"), Workload: choice("hello"), Metric: "startup", Ratio: below(1)}
	if f := finding(t, run, test, second); f.Verdict != analyze.ClaimSupported || !f.Partly {
		t.Errorf("%s, %v", f.Verdict, f.Partly)
	}
}

// An engine that is here in none of the environments that a test means is named with the
// level that none of them has, whatever another test of the claim found of it.
func TestWithoutTheLevel(t *testing.T) {
	on := func(image string) record.ClaimTest {
		return record.ClaimTest{Of: of("engine", "docker", "image", image), To: of("engine", "podman", "image", image), Workload: choice("hello"), Metric: "startup", Ratio: below(2)}
	}
	f := finding(t, claimRun(base, 0.02, nil), on("alpine"), on("fedora"))
	if f.Verdict != analyze.ClaimSupported || !f.Partly || len(f.Pairs) != 1 {
		t.Errorf("%s, %v, %d pairs", f.Verdict, f.Partly, len(f.Pairs))
	}
	for _, engine := range []string{"docker", "podman"} {
		if !slices.ContainsFunc(f.Without, func(l analyze.ClaimLack) bool {
			return l.What == engine && l.Reason == "none of its environments has the image fedora"
		}) {
			t.Errorf("%s: %+v", engine, f.Without)
		}
	}
}

// What is known by now to differ from the paper makes no other claim of it.
func TestSameClaim(t *testing.T) {
	claim := record.Claim{ID: "t/1", Says: "It is so."}
	known := claim
	known.Differs = []record.StandIn{{Paper: "a packet", Here: "a pipe"}}
	claims, remarks := findings.ClaimsOf([]*analyze.Result{{Run: analyze.RunInfo{ID: "old"}, Claims: []record.Claim{claim}}, {Run: analyze.RunInfo{ID: "new"}, Claims: []record.Claim{known}}})
	if len(claims) != 1 || len(claims[0].Differs) != 1 || len(remarks) != 0 {
		t.Errorf("%+v %+v", claims, remarks)
	}
}

// Runs are taken together, each pair within one of them, the newest that has it; a
// run whose claims differ is named.
func TestSeveralRuns(t *testing.T) {
	test := record.ClaimTest{Of: of("engine", "docker"), Workload: choice("hello"), Metric: "startup", Value: below(2e8)}
	claim := record.Claim{ID: "t/1", Says: "It is so.", Tests: []record.ClaimTest{test}}
	var runs []*analyze.Result
	for _, v := range []truths{base, with(truths{"docker startup": 4e8})} {
		c := claimRun(v, 0.02, nil)
		c.Claims = []record.Claim{claim}
		claim.Says = "It is otherwise."
		res, err := evaluate.Run(c.Open(t), evaluate.Options{})
		require.NoError(t, err)
		res.Run.ID = fmt.Sprint("run", len(runs))
		res.Run.Started = res.Run.Started.Add(time.Duration(len(runs)) * time.Hour)
		runs = append(runs, res)
	}
	claims, remarks := findings.ClaimsOf(runs)
	if len(claims) != 1 || claims[0].Says != "It is so." || len(remarks) != 1 || remarks[0].Code != "claims-differ" {
		t.Errorf("%+v %+v", claims, remarks)
	}
	f := findings.Judge(runs, claims, nil)
	if c := f.Claims[0]; len(f.Runs) != 2 || c.Verdict != analyze.ClaimContradicted || len(c.Pairs) != 2 || !slices.Equal(c.Runs, []string{"run1"}) || !slices.Equal(c.Older, []string{"run0"}) {
		t.Errorf("%+v", c)
	}
	// In whatever order they are given; and what only the older one has counts.
	other := runs[1].Environments
	for _, order := range [][]*analyze.Result{{runs[1], runs[0]}, {runs[0], runs[1]}} {
		if f := findings.Judge(order, claims, nil); f.Claims[0].Verdict != analyze.ClaimContradicted {
			t.Errorf("%+v", f.Claims[0])
		}
	}
	runs[1].Environments = slices.Clone(other)
	for i := range other {
		if other[i].ID == "docker/debian" {
			runs[1].Environments[i].Levels = map[string]string{"image": "ubuntu"}
		}
	}
	if c := findings.Judge(runs, claims, nil).Claims[0]; len(c.Pairs) != 3 || len(c.Runs) != 2 {
		t.Errorf("%+v", c)
	}
	runs[1].Environments = other
	if f := findings.Judge(runs[:1], claims, nil); f.Claims[0].Verdict != analyze.ClaimSupported {
		t.Error(f.Claims[0].Reason)
	}
}

// A run that was made for other claims of the study says nothing of this one,
// though it is newer and has its pairs; one that carries no claims does.
func TestMadeForOthers(t *testing.T) {
	test := record.ClaimTest{Of: of("engine", "docker"), Workload: choice("hello"), Metric: "startup", Value: below(2e8)}
	one, other, elsewhere := record.Claim{ID: "t/1", Tests: []record.ClaimTest{test}}, record.Claim{ID: "t/2"}, record.Claim{ID: "u/1"}
	var runs []*analyze.Result
	for i, v := range []truths{base, with(truths{"docker startup": 4e8})} {
		res, err := evaluate.Run(claimRun(v, 0.02, nil).Open(t), evaluate.Options{})
		require.NoError(t, err)
		res.Run.ID, res.Run.Started = fmt.Sprint("run", i), res.Run.Started.Add(time.Duration(i)*time.Hour)
		runs = append(runs, res)
	}
	for _, c := range []struct {
		older, newer []record.Claim
		want         analyze.ClaimVerdict
	}{
		{[]record.Claim{one, other}, []record.Claim{other}, analyze.ClaimSupported},
		{[]record.Claim{one, other}, []record.Claim{one}, analyze.ClaimContradicted},
		{[]record.Claim{one, other}, nil, analyze.ClaimContradicted},
		{[]record.Claim{one, other}, []record.Claim{elsewhere}, analyze.ClaimContradicted},
		{nil, []record.Claim{other}, analyze.ClaimContradicted}, // named by --study
	} {
		runs[0].Claims, runs[1].Claims = c.older, c.newer
		if f := findings.Judge(runs, []record.Claim{one}, nil).Claims[0]; f.Verdict != c.want {
			t.Errorf("%v, %v: %s (%s)", c.older, c.newer, f.Verdict, f.Reason)
		}
	}
}

// A claim of many pairs is not contradicted by chance: of a hundred true claims
// of 15 pairs each at the edge of their range, few are.
func TestHolmOverPairs(t *testing.T) {
	wrong := 0
	const runs = 60
	for seed := range runs {
		c := recordtest.Cells{Noise: 0.05, Spec: recordtest.Spec{Name: "holm", Seed: uint64(seed + 1), Blocks: 8, PerBlock: 1,
			Workloads: []record.Workload{{ID: "hello", Name: "hello"}}}}
		for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
			c.Envs = append(c.Envs, recordtest.Environment(id, id, "", nil))
		}
		c.Value = func(_ *record.Environment, _ *record.Workload, m string) (float64, bool) { return 1e8, m == "startup" }
		f := finding(t, c, record.ClaimTest{Of: of("engine", "a,b,c,d,e,f"), Vary: "engine", Workload: choice("hello"), Metric: "startup", Ratio: &record.Range{Text: "1", Min: new(1.0), Max: new(1.0)}})
		if len(f.Pairs) != 15 {
			t.Fatalf("%d pairs", len(f.Pairs))
		}
		if f.Verdict == analyze.ClaimContradicted {
			wrong++
		}
	}
	// Two bounds of 2.5 % each; by chance no more than 7 of 60 (binomial, p = 0.02).
	if wrong > 7 {
		t.Errorf("%d of %d true claims were contradicted", wrong, runs)
	}
}

func TestFeatureClaims(t *testing.T) {
	claim := record.Claim{ID: "baresi2024/5", Says: "As published.", Features: "Security"}
	table := func(cells map[string]map[string]record.FeatureValue) *record.Features {
		f := &record.Features{Schema: 1}
		for name, row := range cells {
			r := record.FeatureRow{Group: "Security", Feature: name, Cells: map[string]record.FeatureCell{}}
			for e, v := range row {
				value, lacking, _ := strings.Cut(string(v), " ")
				r.Cells[e] = record.FeatureCell{Value: record.FeatureValue(value), Lacking: lacking}
			}
			f.Rows = append(f.Rows, r)
		}
		return f
	}
	for _, c := range []struct {
		name                string
		have                *record.Features
		want                analyze.ClaimVerdict
		tried, differ, open int
	}{
		{"no table", nil, analyze.ClaimNotTested, 0, 0, 0},
		{"nothing tried", table(map[string]map[string]record.FeatureValue{"Rootless executions": {"docker": record.FeatureUntried}}), analyze.ClaimNotTested, 0, 0, 0},
		{"as published", table(map[string]map[string]record.FeatureValue{"Rootless executions": {"docker": "yes", "apptainer": "yes"}, "vpn support": {"docker": "no"}}), analyze.ClaimSupported, 3, 0, 0},
		{"one differs", table(map[string]map[string]record.FeatureValue{"Rootless executions": {"docker": "yes", "apptainer": "no"}}), analyze.ClaimContradicted, 2, 1, 0},
		{"a part differs", table(map[string]map[string]record.FeatureValue{"Rootless executions": {"docker": "yes", "apptainer": "partial"}}), analyze.ClaimContradicted, 2, 1, 0},
		{"a part for want of something", table(map[string]map[string]record.FeatureValue{"Rootless executions": {"docker": "yes", "apptainer": "partial there is none"}}), analyze.ClaimSupported, 1, 0, 1},
		{"nothing else", table(map[string]map[string]record.FeatureValue{"Rootless executions": {"docker": "partial there is none"}}), analyze.ClaimNotTested, 0, 0, 1},
		{"a part where a no was published", table(map[string]map[string]record.FeatureValue{"VPN support": {"docker": "partial there is none"}}), analyze.ClaimContradicted, 1, 1, 0},
	} {
		f := findings.Judge(nil, []record.Claim{claim}, c.have).Claims[0]
		if f.Verdict != c.want || f.Features.Tried != c.tried || len(f.Features.Differ) != c.differ || f.Features.Cells != 24 || f.Reason == "" ||
			len(f.Features.Undecided) != c.open || f.Partly != (c.want != analyze.ClaimNotTested) {
			t.Errorf("%s: %s (partly %v), %+v", c.name, f.Verdict, f.Partly, f.Features)
		}
		if strings.Contains(f.Reason, "can't be tried here: there is none") != (c.open > 0) {
			t.Errorf("%s, %d undecided: %s", c.name, c.open, f.Reason)
		}
	}
}

// Answers have their own verdicts, and their own sentences.
func TestAnswers(t *testing.T) {
	test := record.ClaimTest{Of: of("engine", "docker"), Workload: choice("hello"), Metric: "startup", Value: below(2e8)}
	for _, c := range []struct {
		v    truths
		want string
	}{
		{base, "Yes."}, {with(truths{"docker startup": 9e8}), "No."}, {truths{}, "Not tested: Yes."},
	} {
		run := claimRun(c.v, 0.02, nil)
		run.Claims = []record.Claim{{ID: "t/1", Says: "It is so.", Why: "Why?", Needs: "a moon", Answers: []record.ClaimAnswer{{Test: test, Supported: "Yes.", Contradicted: "No."}}}}
		res, err := evaluate.Run(run.Open(t), evaluate.Options{})
		require.NoError(t, err)
		f := res.Findings.Claims[0]
		if f.Verdict != analyze.ClaimNotTested || f.Reason != "Needs a moon." || f.Answers[0].Text != c.want {
			t.Errorf("%s, %s, %+v", f.Verdict, f.Reason, f.Answers)
		}
	}
}

// A command is named for what was not measured, and none for what was and failed each
// time: it would fail again. What failed of one side is enough.
func TestAnswersThatFailed(t *testing.T) {
	hello, work := choice("hello"), choice("work")
	for _, c := range []struct {
		name   string
		test   record.ClaimTest
		failed bool
	}{
		{"nobody has run it", record.ClaimTest{Of: of("engine", "sarus"), Workload: hello, Metric: "startup", Value: below(2e8)}, false},
		{"it failed", record.ClaimTest{Of: of("engine", "lxd"), Workload: hello, Metric: "startup", Value: below(2e8)}, true},
		{"what it is held against failed", record.ClaimTest{Of: of("engine", "docker"), To: of("engine", "lxd"), Workload: hello, Metric: "startup", Ratio: below(1)}, true},
		{"another workload failed", record.ClaimTest{Of: of("engine", "lxd"), Workload: work, ToWorkload: &hello, Metric: "startup", Ratio: below(1)}, true},
		{"one of two went well", record.ClaimTest{Of: of("engine", "docker,lxd"), Vary: "image", Workload: choice("nonesuch"), Metric: "startup", Ratio: below(1)}, false},
	} {
		run := claimRun(base, 0.02, func(x *recordtest.Cells) {
			x.Envs = append(x.Envs, recordtest.Environment("lxd", "lxd", "", nil))
			x.Envs[len(x.Envs)-1].StartUp, x.Envs[len(x.Envs)-1].Class = 0, record.EngineError
		})
		run.Claims = []record.Claim{{ID: "t/1", Says: "It is so.", Why: "Why?", Needs: "a moon",
			Answers: []record.ClaimAnswer{{Test: c.test, Supported: "Yes.", Command: "plimsoll run more"}}}}
		res, err := evaluate.Run(run.Open(t), evaluate.Options{})
		require.NoError(t, err)
		a := res.Findings.Claims[0].Answers[0]
		if a.Verdict != analyze.ClaimNotTested || (a.Failed != "") != c.failed || (a.Command == "") != c.failed {
			t.Errorf("%s: %s, failed %q, command %q", c.name, a.Verdict, a.Failed, a.Command)
		}
	}
}

// A reason is short where it is long, and cut at no colon of a name.
func TestBrief(t *testing.T) {
	for reason, want := range map[string]string{
		"sarus is not installed.": "sarus is not installed",
		"balenaEngine is not installed, or its daemon does not run: failed to connect to the docker API":        "balenaEngine is not installed, or its daemon does not run",
		"the image centos:8 is not here, and its registry does not answer: Get \"https://index.docker.io/v2/\"": "the image centos:8 is not here, and its registry does not answer",
		"the kernel of this machine is older than what the engine needs; a newer one has it: 5.11":              "the kernel of this machine is older than what the engine needs",
	} {
		if got := (analyze.ClaimLack{Reason: reason}).Brief(); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}

// A run's claims come from outside: whatever they are, they get a verdict.
func TestHostileClaims(t *testing.T) {
	odd := []record.ClaimTest{
		{},
		{Of: of("engine", "docker"), Workload: choice("hello"), Metric: "startup"},
		{Of: of("engine", "docker"), Workload: choice("hello"), Metric: "startup", Ratio: &record.Range{}},
		{Of: of("engine", "docker"), Workload: choice("hello"), Metric: "startup", Value: &record.Range{}},
		{Of: of("engine", "docker"), Vary: "image", Workload: choice("hello"), Metric: "startup", Ratio: &record.Range{Min: new(2.0), Max: new(1.0)}},
		{Of: of("engine", "docker"), Vary: "image", To: of("engine", "podman"), Baseline: "native", Workload: choice("hello"), Metric: "startup", Ratio: &record.Range{Min: new(-1.0), Max: new(-0.5)}},
		{Of: of("engine", "docker"), Workload: choice("hello"), Metric: "startup", Value: &record.Range{Max: new(-1.0)}},
		{Of: of("engine", "docker"), Workload: choice("hello"), Metric: "startup", Value: &record.Range{Max: new(1.0), Unit: "bytes"}},
		{Of: of("engine", "docker"), Workload: choice("work"), Metric: "change", ToMetric: "size", Ratio: below(1)},
		{Of: of("engine", "docker"), Workload: choice("work"), Metric: "change", ToMetric: "speed", Ratio: below(1)},
		{Of: of("engine", "docker"), Workload: choice("work"), ToWorkload: &record.WorkloadChoice{}, Metric: "size", Ratio: below(1)},
		{Of: of("engine", "docker"), Baseline: "nonesuch", Workload: choice("hello"), Metric: "startup", Ratio: below(1)},
		{Of: map[string][]string{"engine": nil}, To: map[string][]string{}, Workload: choice("hello"), Metric: "startup", Ratio: below(1)},
	}
	for i, test := range odd {
		f := finding(t, claimRun(base, 0.02, func(c *recordtest.Cells) { c.Blocks = 6 }), test)
		if !slices.Contains(analyze.ClaimVerdicts, f.Verdict) || f.Reason == "" {
			t.Errorf("%d: %+v", i, f)
		}
		for _, p := range f.Pairs {
			if p.Reason == "" || p.Verdict == "" {
				t.Errorf("%d: %+v", i, p)
			}
		}
	}
	f := findings.Judge(nil, []record.Claim{{}, {Features: "nonesuch", Published: []record.PublishedValue{{Source: "nonesuch"}}}}, &record.Features{})
	if len(f.Claims) != 2 || f.Claims[0].Verdict != analyze.ClaimNotTested || f.Claims[1].Verdict != analyze.ClaimNotTested {
		t.Errorf("%+v", f.Claims)
	}
}
