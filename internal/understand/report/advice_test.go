package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/advise"
	"plimsoll/internal/understand/analyze"
)

// advised is a run of start-ups and requests: two that are alike in the lead,
// one that is slower in both, one without requests, one that is root, and one
// of which it is not known.
func advised() recordtest.Spec {
	s := recordtest.Typical()
	s.Name, s.StealEvery, s.Envs = "advised", 0, nil
	s.Workloads = append(s.Workloads, record.Workload{ID: "nginx/seconds-1", Name: "nginx", Title: "nginx", Params: map[string]string{"seconds": "1"},
		Metrics: []record.Metric{{ID: "requests", Unit: "requests/s", Better: record.HigherIsBetter, Title: "requests"}}})
	add := func(id, baseline, rootless string, startUp time.Duration, requests float64) {
		e := recordtest.Env{StartUp: startUp, Values: map[string]float64{"requests": requests}, Environment: record.Environment{ID: id, Engine: id, Baseline: baseline, Clock: record.ClockShared}}
		e.Facts = map[string]string{"rootless": rootless, "daemon": "none", "limits": "engine"}
		e.Inside = record.Inside{Namespaces: map[string]string{"user": "own"}, UIDMap: "0 1000 1", Seccomp: "2", Kernel: "6.1.0"}
		if requests == 0 {
			e.Values = nil
		}
		s.Envs = append(s.Envs, e)
	}
	add("native", "native", "", time.Millisecond, 40_000)
	add("crane", "", "yes", 100*time.Millisecond, 30_000)
	add("heron", "", "yes", 101*time.Millisecond, 30_100)
	add("goose", "", "yes", 250*time.Millisecond, 22_000)
	add("snipe", "", "yes", 20*time.Millisecond, 0)
	add("raven", "", "no", 10*time.Millisecond, 39_000)
	add("stork", "", "", 12*time.Millisecond, 39_000)
	s.Envs[3].FailEvery, s.Envs[3].Class = 9, record.TimeOut
	s.Excluded = []record.Excluded{{ID: "eider", Engine: "eider", Kind: "unavailable", Reason: "eider is not installed", Fix: "make lab ENGINE=eider"}}
	return s
}

func adviceFor(t *testing.T, f *record.Features, p advise.Profile, runs ...opener) *advise.Advice {
	t.Helper()
	var results []*analyze.Result
	for _, r := range runs {
		results = append(results, result(t, r))
	}
	a, err := advise.Run(results, f, p, advise.Options{Known: map[string][]string{"density": {"footprint"}}})
	require.NoError(t, err)
	return a
}

func serving() advise.Profile {
	return advise.Profile{Name: "serving", Title: "Serving \x1b[31mpages", Study: "advise", Matters: 0.05,
		Criteria: []advise.Criterion{
			{Workload: "nginx", Metric: "requests", Better: record.HigherIsBetter, Weight: 4, Why: "Requests a second decide how many servers there must be."},
			{Workload: "hello", Metric: "startup", Better: record.LowerIsBetter, Weight: 0.5, Why: "A burst starts new ones."},
		},
		Require: []advise.Demand{{Is: []string{"rootless"}, Why: "nobody here is root"}},
		Prefer:  []advise.Demand{{Is: []string{"signed-images"}, Why: "what runs is what was built"}, {Is: []string{"own-kernel", "syscall-filter"}, Why: "it is attacked"}, {Is: []string{"own-network"}, Why: "ports"}},
	}
}

func table() *record.Features {
	return &record.Features{Schema: record.FeaturesSchema, Tool: record.Tool{Version: "0.1.0"}, Host: record.Host{Name: "lab", Kernel: "6.1.0"},
		Rows: []record.FeatureRow{
			{ID: "rootless", Cells: map[string]record.FeatureCell{"raven": {Value: record.FeatureYes, Why: "its users can"}}},
			{ID: "signed-images", Cells: map[string]record.FeatureCell{"crane": {Value: record.FeatureYes}, "heron": {Value: record.FeatureNo, Why: "it ran the tampered image"}}},
		}}
}

func TestAdviceGolden(t *testing.T) {
	full := adviceFor(t, table(), serving(), advised())
	lacking := serving()
	lacking.Criteria = append(lacking.Criteria, advise.Criterion{Workload: "density", Metric: "footprint", Better: record.LowerIsBetter, Weight: 1.5, Why: "Memory is dear."})
	lacking.Prefer = lacking.Prefer[1:]
	for name, c := range map[string]struct {
		advice *advise.Advice
		format string
		opts   Options
	}{
		"advice.txt":         {full, "text", Options{}},
		"advice.md":          {full, "markdown", Options{}},
		"advice-lacking.txt": {adviceFor(t, nil, lacking, advised()), "text", Options{}},
	} {
		var b bytes.Buffer
		require.NoError(t, Advice.Write(&b, c.format, c.advice, c.opts))
		if strings.ContainsRune(b.String(), '\x1b') {
			t.Errorf("%s has an escape sequence", name)
		}
		isGolden(t, name, b.String())
	}
	if err := Advice.Write(&bytes.Buffer{}, "html", full, Options{}); err == nil {
		t.Error("no error for a format that there is not")
	}
}

// What JSON says can be read back, and has no null where there are lists.
func TestAdviceJSON(t *testing.T) {
	for _, p := range []advise.Profile{serving(), {Name: "none", Criteria: serving().Criteria[:1], Require: []advise.Demand{{Is: []string{"vm-isolation"}}}}} {
		var b bytes.Buffer
		require.NoError(t, Advice.Write(&b, "json", adviceFor(t, table(), p, advised()), Options{}))
		var got map[string]any
		if err := json.Unmarshal(b.Bytes(), &got); err != nil || got["schema"] != float64(advise.Schema) {
			t.Errorf("schema %v: %v", got["schema"], err)
		}
		if strings.Contains(b.String(), ": null") {
			t.Errorf("null in\n%s", b.String())
		}
	}
}

// The only one that can be ranked is first of none.
func TestAdviceOfOne(t *testing.T) {
	a := &advise.Advice{Ranked: []advise.Ranked{{Env: "podman"}}, Verdict: advise.Verdict{Outcome: advise.First, Leaders: []string{"podman"}}}
	if got := verdictSentences(a)[0]; got != "podman is the only environment that can be ranked: it is held against no other." {
		t.Error(got)
	}
	a.Ranked = append(a.Ranked, advise.Ranked{Env: "docker"})
	if got := verdictSentences(a)[0]; got != "podman comes first, told apart from all others that could be ranked." {
		t.Error(got)
	}
}
