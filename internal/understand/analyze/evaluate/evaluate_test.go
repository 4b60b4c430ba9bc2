package evaluate_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/analyzetest"
	"plimsoll/internal/understand/analyze/evaluate"
)

func TestKnownEffects(t *testing.T) {
	spec := recordtest.Typical()
	spec.Blocks = 20
	res := analyzetest.Run(t, spec)
	native := 560e-6
	for _, e := range spec.Envs {
		c := analyzetest.Cell(t, res, "startup", e.ID)
		if e.StartUp == 0 {
			if c.Median != nil || c.Missing != "every trial failed" {
				t.Errorf("%s: %+v", e.ID, c)
			}
			continue
		}
		truth := e.StartUp.Seconds()
		if *c.Median.Lo > truth*1e9*1.03 || *c.Median.Hi < truth*1e9*0.97 {
			t.Errorf("%s: median %+v, true %v", e.ID, c.Median, e.StartUp)
		}
		r := c.Ratio("native")
		if r.Env != "native" {
			t.Errorf("%s: native is %s", e.ID, r.Env)
		}
		if e.ID == "native" {
			if r.Value != 1 || r.Verdict != analyze.Equal {
				t.Errorf("native to itself: %+v", r)
			}
			continue
		}
		if want := truth / native; *r.Lo > want*1.01 || *r.Hi < want*0.99 || r.Method != "hodges-lehmann" || r.Blocks != 20 {
			t.Errorf("%s: ratio %v [%v, %v] over %d blocks, true %v", e.ID, r.Value, *r.Lo, *r.Hi, r.Blocks, want)
		}
		if r.Verdict != analyze.Differs {
			t.Errorf("%s: %s", e.ID, r.Verdict)
		}
	}
	startup := res.Workloads[0].Table("startup")
	got := strings.Join(startup.Ranking, " ")
	if !strings.HasPrefix(got, "host native floor charliecloud-directory crun runc podman") || strings.Contains(got, "userns") {
		t.Errorf("ranking: %s", got)
	}
	if a, b := analyzetest.Cell(t, res, "startup", "podman").Group, analyzetest.Cell(t, res, "startup", "podman-rootless").Group; a != b {
		t.Errorf("podman is of group %s, rootless, 0.8 %% off, of %s", a, b)
	}
	if a, b := analyzetest.Cell(t, res, "startup", "crun").Group, analyzetest.Cell(t, res, "startup", "runc").Group; a == b || a == "" {
		t.Errorf("crun and runc share the group %q", a)
	}
}

// TestSortedByIsShown: rows in the order of a metric that is not shown would look unsorted.
func TestSortedByIsShown(t *testing.T) {
	for sort, want := range map[string]string{"": "startup", "startup": "startup", "whole": "whole startup", "score": "startup"} {
		spec := recordtest.Typical()
		spec.Sort = sort
		if got := strings.Join(analyzetest.Run(t, spec).Workloads[0].Show, " "); got != want {
			t.Errorf("sorted by %q: %q is shown, not %q", sort, got, want)
		}
	}
}

func TestFailuresAreCountedAndEnterNoTime(t *testing.T) {
	res := analyzetest.Run(t, recordtest.Typical())
	for _, c := range res.Workloads[0].Counts {
		switch c.Env {
		case "podman-rootless":
			// Trials 7, 14, 21 of 22 fail; the first two are of the warm-up block.
			if c.Trials != 20 || c.Failed != 3 || c.Censored != 3 || c.Classes[0].Class != record.TimeOut || c.Warmup != 2 {
				t.Errorf("%+v", c)
			}
			if n := analyzetest.Cell(t, res, "startup", c.Env).N; n != 17 {
				t.Errorf("%d values of 17", n)
			}
		case "docker-userns":
			if c.Failed != 20 || *c.Rate.Hi != 1 {
				t.Errorf("%+v", c)
			}
		default:
			if c.Failed != 0 || c.Trials != 20 {
				t.Errorf("%+v", c)
			}
		}
	}
	if res.Run.Failed != 23 || res.Run.Warmup != 24 || res.Run.Trials != 264 || res.Run.Blocks != 10 {
		t.Errorf("%+v", res.Run)
	}
}

func TestForeignClockIsMissingNotZero(t *testing.T) {
	res := analyzetest.Run(t, recordtest.Typical())
	for _, m := range []string{"bootstrap", "start", "output-delay", "shutdown"} {
		if c := analyzetest.Cell(t, res, m, "runsc"); c.Median != nil || !strings.Contains(c.Missing, "clock of its own") {
			t.Errorf("%s: %+v", m, c)
		}
	}
	for _, m := range []string{"startup", "execution", "create", "whole"} {
		if c := analyzetest.Cell(t, res, m, "runsc"); c.Median == nil || c.Median.Value < 0 {
			t.Errorf("%s: %+v", m, c)
		}
	}
	if c := analyzetest.Cell(t, res, "create", "native"); c.Missing != "this engine has no such step" {
		t.Errorf("native's create: %+v", c)
	}
	if !analyzetest.Has(res, "foreign-clock", "runsc", "") {
		t.Error("no remark")
	}
}

// TestRemarks: each oddity that is put in is found, in its cell, and is not
// found in the same run without it.
func TestRemarks(t *testing.T) {
	quiet := func() recordtest.Spec {
		s := recordtest.Typical()
		s.Envs = s.Envs[:6]
		s.StealEvery = 0
		return s
	}
	unchanged := analyzetest.Run(t, quiet())
	for _, c := range []struct {
		code, env, metric string
		change            func(*recordtest.Spec)
	}{
		{"drift", "runc", "startup", func(s *recordtest.Spec) { s.Envs[5].Drift = 0.8 }},
		{"first-slow", "runc", "startup", func(s *recordtest.Spec) { s.Envs[5].FirstSlow = 3 }},
		{"humps", "runc", "startup", func(s *recordtest.Spec) { s.Envs[5].Humps = 2; s.PerBlock = 6 }},
		{"quantised", "runc", "startup", func(s *recordtest.Spec) { s.Envs[5].Quantum = 5 * time.Millisecond }},
		{"baseline-unstable", "floor", "startup", func(s *recordtest.Spec) { s.Envs[2].Sigma = 0.5 }},
		{"few", "runc", "startup", func(s *recordtest.Spec) { s.Blocks, s.PerBlock = 4, 1 }},
		{"preliminary", "", "", func(s *recordtest.Spec) { s.Blocks = 5 }},
		{"steal", "", "", func(s *recordtest.Spec) { s.StealEvery = 3 }},
		{"failures", "runc", "", func(s *recordtest.Spec) { s.Envs[5].FailEvery, s.Envs[5].Class = 3, record.Crash }},
		{"incomplete", "", "", func(s *recordtest.Spec) { s.Until = 50 }},
		{"residue", "", "", func(s *recordtest.Spec) { s.Residue = []string{"mount /x"} }},
		{"images-bound", "", "", func(s *recordtest.Spec) { s.Images = map[string]string{"alpine:3": "busybox"} }},
		{"unverified", "runc", "", func(s *recordtest.Spec) { s.Envs[5].Unverified = true }},
		{"untested", "", "", func(s *recordtest.Spec) {
			s.Envs[5].Facts = map[string]string{"runtime": "runc", "runtime-version": "999.1"}
		}},
		{"unverified-storage", "", "", func(s *recordtest.Spec) {
			s.Agents = []record.Agent{{Name: "oss1", Sources: []record.AgentSource{{Name: "lustre-oss", Unverified: true}}}}
		}},
		{"outliers", "runc", "startup", func(s *recordtest.Spec) { s.Envs[5].Sigma = 0.001; s.Envs[5].FirstSlow = 4; s.Shared = 0.0001 }},
	} {
		if analyzetest.Has(unchanged, c.code, c.env, c.metric) {
			t.Errorf("%s is found in a quiet run: %s", c.code, analyzetest.Codes(unchanged))
		}
		s := quiet()
		c.change(&s)
		if res := analyzetest.Run(t, s); !analyzetest.Has(res, c.code, c.env, c.metric) {
			t.Errorf("%s is not found: %s", c.code, analyzetest.Codes(res))
		}
	}
}

func TestPreliminary(t *testing.T) {
	s := recordtest.Typical()
	s.Blocks = 4
	r := analyzetest.Cell(t, analyzetest.Run(t, s), "startup", "runc").Ratio("native")
	if !r.Preliminary() || r.Lo == nil || *r.Lo > 24.0/0.56 || *r.Hi < 24.0/0.56 {
		t.Errorf("%+v", r)
	}
	s.Blocks = 1
	r = analyzetest.Cell(t, analyzetest.Run(t, s), "startup", "runc").Ratio("native")
	if r.Lo != nil || r.Verdict != analyze.CannotTell || math.Abs(r.Value-43) > 5 {
		t.Errorf("one block: %+v", r)
	}
}

func TestVerdicts(t *testing.T) {
	same := make([]float64, 10)
	for i := range same {
		same[i] = 100 + float64(i%3)
	}
	scaled := func(f, noise float64) []float64 {
		out := make([]float64, len(same))
		for i := range out {
			out[i] = same[i] * f * (1 + noise*float64(i%4-1))
		}
		return out
	}
	for _, c := range []struct {
		f, noise float64
		want     analyze.Verdict
	}{{1.10, 0.01, analyze.Differs}, {0.9, 0.01, analyze.Differs}, {1.001, 0.0005, analyze.Equal}, {1.0, 0.1, analyze.CannotTell}, {1.012, 0.01, analyze.CannotTell}} {
		got, _ := analyze.Compare(scaled(c.f, c.noise), same, 0.01)
		if got.Verdict != c.want {
			t.Errorf("× %v, noise %v: %s [%v, %v]", c.f, c.noise, got.Verdict, *got.Lo, *got.Hi)
		}
		if (got.BlocksNeeded > 10) != (c.want == analyze.CannotTell) {
			t.Errorf("× %v: %d blocks needed", c.f, got.BlocksNeeded)
		}
	}
	if c, _ := analyze.Compare([]float64{1, 2}, []float64{0, 1}, 0.01); c.Missing == "" || c.Method != "" {
		t.Errorf("a ratio to 0: %+v", c)
	}
}

// TestHigherIsBetter: a workload's own metric is ranked its own way.
func TestHigherIsBetter(t *testing.T) {
	s := recordtest.Typical()
	s.Envs = s.Envs[:3]
	s.Workloads[0].Metrics = []record.Metric{{ID: "events", Unit: "1/s", Better: record.HigherIsBetter, Title: "events"}}
	for i, v := range []float64{1000, 900, 500} {
		s.Envs[i].Values = map[string]float64{"events": v}
	}
	res := analyzetest.Run(t, s)
	if got := strings.Join(res.Workloads[0].Table("events").Ranking, " "); got != "host native floor" {
		t.Errorf("ranking: %s", got)
	}
	if got := strings.Join(res.Workloads[0].Show, " "); got != "events startup" {
		t.Errorf("shown: %s", got)
	}
}

func TestNearestBaseline(t *testing.T) {
	s := recordtest.Typical()
	s.Envs = append(s.Envs, s.Envs[2])
	last := &s.Envs[len(s.Envs)-1]
	last.ID, last.Levels = "floor-net", map[string]string{"network": "none"}
	s.Envs[5].Levels = map[string]string{"network": "none", "runtime": "runc"}
	res := analyzetest.Run(t, s)
	if got := analyzetest.Cell(t, res, "startup", "runc").Ratio("floor").Env; got != "floor-net" {
		t.Errorf("runc, network none, is compared with %s", got)
	}
	if got := analyzetest.Cell(t, res, "startup", "crun").Ratio("floor").Env; got != "floor" {
		t.Errorf("crun is compared with %s", got)
	}
}

func TestSameBytes(t *testing.T) {
	var all [2][]byte
	for i := range all {
		var err error
		if all[i], err = json.Marshal(analyzetest.Run(t, recordtest.Typical())); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(all[0], all[1]) {
		t.Error("the same records give other bytes")
	}
	if bytes.Contains(all[0], []byte(":null")) {
		t.Error("null where a list or nothing should be")
	}
}

func TestEmptyRuns(t *testing.T) {
	s := recordtest.Typical()
	s.Until = 1 // one warm-up trial
	res := analyzetest.Run(t, s)
	if len(res.Workloads[0].Tables) == 0 || analyzetest.Cell(t, res, "startup", "runc").Missing != "not measured yet" {
		t.Errorf("%+v", analyzetest.Cell(t, res, "startup", "runc"))
	}
	s = recordtest.Typical()
	s.Envs, s.Workloads = nil, nil
	if res := analyzetest.Run(t, s); res.Run.Trials != 0 {
		t.Errorf("%+v", res.Run)
	}
}

func TestForeignTrials(t *testing.T) {
	s := recordtest.Typical()
	dir := s.Write(t)
	w, run, err := record.Resume(dir)
	require.NoError(t, err)
	run.Environments = run.Environments[:3]
	require.NoError(t, w.Update(run))
	w.Close()
	r, err := record.Open(dir)
	require.NoError(t, err)
	if _, err := evaluate.Run(r, evaluate.Options{}); err == nil || !strings.Contains(err.Error(), "does not name") {
		t.Errorf("%v", err)
	}
}

// wide is a plain run of about n trials in 25 environments, one of each a block.
func wide(n int) recordtest.Spec {
	s := recordtest.Big(n)
	s.Name, s.PerBlock = "wide", 1
	for i, engines := 0, s.Envs[3:10:10]; len(s.Envs) < 25; i++ {
		e := engines[i%len(engines)]
		e.ID, e.Levels = fmt.Sprintf("%s-%d", e.ID, i), maps.Clone(e.Levels)
		e.Levels["variant"] = fmt.Sprint(i)
		e.StartUp += e.StartUp * time.Duration(i) / 500
		s.Envs = append(s.Envs, e)
	}
	s.Blocks = n / len(s.Envs)
	return s
}

// BenchmarkRead1M reads and analyses a million trials of ten environments with ten trials
// a block, and of 25 with one, which makes 300 pairs of 40 000 blocks. Where /proc is there
// it reports the peak of resident memory too.
func BenchmarkRead1M(b *testing.B) {
	for _, spec := range []recordtest.Spec{recordtest.Big(1_000_000), wide(1_000_000)} {
		b.Run(spec.Name, func(b *testing.B) {
			dir := spec.Write(b)
			b.ResetTimer()
			for b.Loop() {
				r, err := record.Open(dir)
				require.NoError(b, err)
				if _, err := evaluate.Run(r, evaluate.Options{}); err != nil {
					b.Fatal(err)
				}
			}
			if status, err := os.ReadFile("/proc/self/status"); err == nil {
				for line := range strings.Lines(string(status)) {
					var kb float64
					if _, err := fmt.Sscanf(line, "VmHWM: %f kB", &kb); err == nil {
						b.ReportMetric(kb/1024, "peak-MiB")
					}
				}
			}
		})
	}
}
