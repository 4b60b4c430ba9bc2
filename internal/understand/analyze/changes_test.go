package analyze

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
)

// session is one run of a small study on a machine that is faster or slower
// that day by the factor speed.
func session(seed uint64, speed float64, change func(*recordtest.Spec)) recordtest.Spec {
	s := recordtest.Typical()
	s.Envs = slices.Clone(s.Envs)
	s.Envs = []recordtest.Env{s.Envs[1], s.Envs[2], s.Envs[4], s.Envs[5], s.Envs[9]} // native, floor, crun, runc, podman
	s.Seed, s.Blocks, s.PerBlock, s.StealEvery = seed, 20, 1, 0
	if change != nil {
		change(&s)
	}
	for i := range s.Envs {
		s.Envs[i].StartUp = scaled(s.Envs[i].StartUp, speed)
	}
	return s
}

func scaled[T ~int64](v T, by float64) T { return T(float64(v) * by) }

func changed(t testing.TB, a, b recordtest.Spec, o CompareOptions) *Changes {
	t.Helper()
	c, err := Between(analyze(t, a), analyze(t, b), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func find(c *Changes, metric, env string) *Change {
	for i := range c.Cells {
		if c.Cells[i].Metric.ID == metric && c.Cells[i].Env == env {
			return &c.Cells[i]
		}
	}
	return nil
}

// One environment is 10 % slower, on a machine that is 7 % slower that day:
// that environment is found, and no other.
func TestChangeIsFound(t *testing.T) {
	c := changed(t, session(1, 1, nil), session(2, 1.07, func(s *recordtest.Spec) { s.Envs[3].StartUp = scaled(s.Envs[3].StartUp, 1.15) }), CompareOptions{})
	if c.Interleaved || c.Test != "Mann-Whitney" && c.Test != "Welch" {
		t.Errorf("%v, %s", c.Interleaved, c.Test)
	}
	for _, env := range []string{"floor", "crun", "runc", "podman"} {
		ch := find(c, "startup", env)
		if want := map[bool]float64{true: 1.15, false: 1}[env == "runc"]; *ch.Ratio.Lo > want || *ch.Ratio.Hi < want || ch.Against != "native" || ch.AgainstMetric != "startup" {
			t.Errorf("%s: %+v by %s %s", env, ch.Ratio, ch.Against, ch.AgainstMetric)
		}
		if (ch.Verdict == Worse) != (env == "runc") {
			t.Errorf("%s is %s", env, ch.Verdict)
		}
	}
	if n := find(c, "startup", "native"); n.Against != "floor" {
		t.Errorf("native is held against %q", n.Against)
	}
	if m := find(c, "create", "runc"); m.Against != "native" || m.AgainstMetric != "startup" {
		t.Errorf("create is held against %s of %q", m.AgainstMetric, m.Against)
	}
	if err := c.Judge(Thresholds{FailAbove: 0.05, Rules: []Rule{{Metric: "output-delay", Ignore: true}, {Metric: "execution", Ignore: true}}}); err != nil {
		t.Fatal(err)
	}
	if c.Gate.State != GateFails {
		t.Fatalf("%+v", c.Gate)
	}
	for i := range c.Cells {
		if ch := &c.Cells[i]; ch.Gate != nil && (ch.Gate.State == GateFails) && ch.Env != "runc" {
			t.Errorf("the gate fails for %s in %s: %s", ch.Metric.ID, ch.Env, ch.Gate.Reason)
		}
	}
	// The other way round it is better, and nothing fails.
	c = changed(t, session(2, 1.07, func(s *recordtest.Spec) { s.Envs[3].StartUp = scaled(s.Envs[3].StartUp, 1.15) }), session(1, 1, nil), CompareOptions{Filter: []Filter{{"metric", []string{"startup"}}}})
	if v := find(c, "startup", "runc").Verdict; v != Better {
		t.Errorf("runc is %s", v)
	}
	if err := c.Judge(Thresholds{FailAbove: 0.1}); err != nil || c.Gate.State == GateFails {
		t.Errorf("%v %+v", err, c.Gate)
	}
}

func TestChangeHigherIsBetter(t *testing.T) {
	run := func(seed uint64, v float64) recordtest.Spec {
		return session(seed, 1, func(s *recordtest.Spec) {
			s.Workloads = []record.Workload{{ID: "hello", Metrics: []record.Metric{{ID: "events", Unit: "1/s", Better: record.HigherIsBetter, Title: "events"}}}}
			for i := range s.Envs {
				s.Envs[i].Values = map[string]float64{"events": 1000}
			}
			s.Envs[2].Values = map[string]float64{"events": v}
		})
	}
	o := CompareOptions{Filter: []Filter{{"metric", []string{"events"}}}}
	c := changed(t, run(1, 1000), run(2, 850), o)
	if v := find(c, "events", "crun").Verdict; v != Worse {
		t.Errorf("fewer events are %s", v)
	}
	if err := c.Judge(Thresholds{FailAbove: 0.05}); err != nil || c.Gate.Failed != 1 || find(c, "events", "crun").Gate.State != GateFails {
		t.Errorf("%v %+v", err, c.Gate)
	}
	c = changed(t, run(1, 1000), run(2, 1150), o)
	if err := c.Judge(Thresholds{FailAbove: 0.05}); err != nil || c.Gate.Failed != 0 || find(c, "events", "crun").Verdict != Better {
		t.Errorf("%v %+v", err, c.Gate)
	}
}

// What is missing, unlike or empty never passes.
func TestGateNeverPassesSilently(t *testing.T) {
	base := session(1, 1, nil)
	startup := CompareOptions{Filter: []Filter{{"metric", []string{"startup"}}}}
	judge := func(change func(*recordtest.Spec), th Thresholds) (*Changes, error) {
		c, err := Between(analyze(t, base), analyze(t, session(2, 1, change)), startup)
		if err != nil {
			return nil, err
		}
		return c, c.Judge(th)
	}
	gone := func(s *recordtest.Spec) { s.Envs = s.Envs[:4] }
	c, err := judge(gone, Thresholds{FailAbove: 0.1})
	if err != nil || c.Gate.State != GateFails || find(c, "startup", "podman").Gate.State != GateFails || !strings.Contains(find(c, "startup", "podman").Missing, "no environment podman") {
		t.Errorf("a lost environment: %v %+v", err, c.Gate)
	}
	if c, err = judge(gone, Thresholds{FailAbove: 0.1, AllowMissing: true}); err != nil || c.Gate.State == GateFails {
		t.Errorf("a lost environment that is allowed: %v %+v", err, c.Gate)
	}
	c, err = judge(func(s *recordtest.Spec) { s.Envs[3].StartUp = 0; s.Envs[3].Class = record.Crash }, Thresholds{FailAbove: 0.1})
	if err != nil || c.Gate.State != GateFails || find(c, "startup", "runc").Gate.State != GateFails {
		t.Errorf("every trial fails: %v", err)
	}
	c, err = judge(func(s *recordtest.Spec) { s.Envs[3].FailEvery, s.Envs[3].Class = 2, record.Crash }, Thresholds{FailAbove: 0.5})
	if err != nil || c.Gate.State != GateFails || len(c.Failures) != 1 || !c.Failures[0].Worse {
		t.Errorf("half of the trials fail: %v", err)
	}
	if _, err = judge(func(s *recordtest.Spec) { s.Until = 1 }, Thresholds{FailAbove: 0.1}); err == nil || !strings.Contains(err.Error(), "no counted trial") {
		t.Errorf("an empty run: %v", err)
	}
	if _, err = judge(func(s *recordtest.Spec) { s.Workloads = []record.Workload{{ID: "other"}} }, Thresholds{FailAbove: 0.1}); err == nil || !strings.Contains(err.Error(), "nothing in common") {
		t.Errorf("another workload: %v", err)
	}
	c, err = judge(func(s *recordtest.Spec) { s.Blocks = 3 }, Thresholds{FailAbove: 0.1})
	if err != nil || c.Gate.State != Inconclusive {
		t.Errorf("three blocks: %v %+v", err, c.Gate)
	}
	// Without a baseline absolute values would be compared.
	c, err = Between(analyze(t, session(1, 1, func(s *recordtest.Spec) { s.Envs = s.Envs[2:] })), analyze(t, session(2, 1, nil)), startup)
	if err != nil || c.Judge(Thresholds{FailAbove: 0.2}) != nil || c.Gate.State != Inconclusive {
		t.Errorf("no baseline: %v %+v", err, c.Gate)
	}
	if err := c.Judge(Thresholds{FailAbove: 0.2, Absolute: true}); err != nil || c.Gate.State != Passed {
		t.Errorf("no baseline, absolute: %v %+v", err, c.Gate)
	}
}

func TestGateIsRefused(t *testing.T) {
	c := changed(t, session(1, 1, nil), session(2, 1, nil), CompareOptions{})
	refused := func(what string, err error) {
		t.Helper()
		var no *RefusedError
		if !errors.As(err, &no) || !strings.Contains(err.Error(), what) || no.Advice == "" {
			t.Errorf("%v", err)
		}
	}
	refused("matches no cell", c.Judge(Thresholds{Rules: []Rule{{Where: "g.yaml:3:5", Metric: "startap", FailAbove: 0.1}}}))
	refused("always pass", c.Judge(Thresholds{Rules: []Rule{{Metric: "*", Ignore: true}}}))
	refused("noise floor of 6 %, which the self-test", c.Judge(Thresholds{FailAbove: 0.05, Noise: map[string]float64{"": 0.06}}))
	c.next.Run.Host.CPU = "Another 4000"
	c.Facts = facts(c.base, c.next)
	refused("machine cpu: Imaginary 3000, now Another 4000", c.Judge(Thresholds{FailAbove: 0.05}))
	if err := c.Judge(Thresholds{FailAbove: 0.5, Unlike: true}); err != nil {
		t.Error(err)
	}
	// The same environment twice tells the noise of the run.
	twice := func(s *recordtest.Spec) {
		e := s.Envs[4]
		e.ID, e.Sigma = "podman@b", 0.5
		s.Envs[4].Sigma = 0.5
		s.Envs = append(s.Envs, e)
	}
	c = changed(t, session(1, 1, twice), session(2, 1, twice), CompareOptions{})
	refused("podman and podman@b, the same environment twice", c.Judge(Thresholds{FailAbove: 0.05}))
}

func TestWithinAndGrouping(t *testing.T) {
	res := analyze(t, session(1, 1, nil))
	c, err := Within(res, "crun", "runc", CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ch := find(c, "startup", "crun")
	if !c.Interleaved || ch.Verdict != Worse || math.Abs(ch.Ratio.Value-24.0/13) > 0.1 || ch.Name() != "crun → runc" {
		t.Errorf("%+v", ch)
	}
	if err := c.Judge(Thresholds{FailAbove: 0.05}); err != nil || c.Gate.State != GateFails {
		t.Errorf("%v", err)
	}
	var no *ChoiceError
	if _, err := Within(res, "crun", "rync", CompareOptions{}); !errors.As(err, &no) || no.Word != "rync" {
		t.Errorf("%v", err)
	}
	other := session(2, 1, nil)
	g := changed(t, session(1, 1, nil), other, CompareOptions{Row: []string{"engine"}, Col: []string{"metric"}}).Grouping
	row := slices.IndexFunc(g.Rows, func(r []string) bool { return r[0] == "oci" })
	if p := g.Places[row][0]; len(p.Cells) != 2 || !slices.Equal(p.Hidden, []string{"runtime"}) {
		t.Errorf("crun and runc stand in one place: %+v", p)
	}
	for _, o := range []CompareOptions{{Row: []string{"colour"}}, {Filter: []Filter{{"runtime", []string{"youki"}}}}, {Filter: []Filter{{"x", []string{"y"}}}}} {
		if _, err := Between(res, analyze(t, other), o); !errors.As(err, &no) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{{"a", "a", true}, {"a", "ab", false}, {"*", "", true}, {"a*", "abc", true}, {"*c", "abc", true}, {"a*c", "abc", true},
		{"a*b*c", "a-b-c", true}, {"a*b*c", "a-c", false}, {"ab*ba", "aba", false}, {"fake/*/api", "fake/x/api", true}} {
		if glob(c.pattern, c.name) != c.want {
			t.Errorf("%s and %s", c.pattern, c.name)
		}
	}
}
