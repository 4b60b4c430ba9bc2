package analyze

import (
	"errors"
	"strings"
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
)

func TestLooksAt(t *testing.T) {
	var at []int
	for n := range 200 {
		if LooksAt(n) {
			at = append(at, n)
		}
	}
	if len(at) != 5 || at[0] != 10 || at[1] != 20 || at[2] != 40 || at[3] != 80 || at[4] != 160 {
		t.Errorf("looks after %v", at)
	}
}

func left(l record.Look) map[string]bool {
	out := map[string]bool{}
	for _, c := range l.Cells {
		if c.Left {
			out[c.Env] = true
		}
	}
	return out
}

// What is known leaves, what is not stays, and the baselines with it; what
// fails always has no ratio to wait for. With the last, all leave.
func TestUntil(t *testing.T) {
	spec := recordtest.Typical()
	spec.PerBlock = 1
	for i := range spec.Envs {
		spec.Envs[i].Sigma = 0.005
		if spec.Envs[i].ID == "podman" {
			spec.Envs[i].Sigma = 0.2
		}
	}
	res := analyze(t, spec)
	l := res.Until(0.02)
	gone := left(l)
	if l.Ended || l.Asked != 9 || l.Settled != 7 {
		t.Errorf("%+v", l)
	}
	for _, env := range []string{"native", "floor", "host", "podman", "podman-rootless"} {
		if gone[env] {
			t.Errorf("%s left", env)
		}
	}
	for _, env := range []string{"crun", "runc", "runsc", "docker-api", "docker-cli", "charliecloud-directory", "docker-userns"} {
		if !gone[env] {
			t.Errorf("%s is still in", env)
		}
	}
	for _, c := range l.Cells {
		switch {
		case c.Env == "docker-userns" && (c.HalfWidth != nil || !strings.Contains(c.Why, "every trial failed")),
			c.Env == "runc" && (c.HalfWidth == nil || *c.HalfWidth > 0.02 || c.Against != "native" || c.Metric != "startup"):
			t.Errorf("%+v", c)
		}
	}
	// The next look asks only what is open.
	l.Blocks = 10
	res.Run.Looks = append(res.Run.Looks, l)
	next := res.Until(0.02)
	if next.Settled != 7 || len(next.Cells) != 2 || len(left(next)) != 0 {
		t.Errorf("the second look: %+v", next)
	}
	// However wide it may be: the one that failed once has nine pairs only.
	if wide := res.Until(10); wide.Settled != 8 || wide.Ended || left(wide)["podman-rootless"] {
		t.Errorf("with ± 1000 %%: %+v", wide)
	}
}

// Below ten pairs no interval is narrow enough, and where nothing but baselines
// runs they are what is asked about.
func TestQuestions(t *testing.T) {
	spec := recordtest.Typical()
	spec.Blocks, spec.PerBlock = 9, 1
	if l := analyze(t, spec).Until(10); l.Settled != 1 { // what always fails
		t.Errorf("after 9 blocks: %+v", l)
	}
	spec.Blocks = 10
	spec.Envs = spec.Envs[:3] // host, native, floor
	l := analyze(t, spec).Until(0.5)
	if l.Asked != 2 || !l.Ended {
		t.Errorf("of baselines alone: %+v", l)
	}
}

// A run that cells left is not incomplete, and says who left when.
func TestLooksAreSaid(t *testing.T) {
	spec := session(3, 1, nil)
	run := spec.Run()
	run.Protocol.Until = 0.05
	run.Looks = []record.Look{
		{Rule: record.RuleUntil, Blocks: 10, Cells: []record.LookCell{{Env: "crun", Workload: "hello", Left: true}, {Env: "runc", Workload: "hello"}}},
		{Rule: record.RuleUntil, Blocks: 20, Ended: true, Why: "every ratio is known to ± 5 %"},
	}
	run.Protocol.Blocks = 80
	dir := t.TempDir() + "/run"
	w, err := record.Create(dir, run)
	if err != nil {
		t.Fatal(err)
	}
	for tr := range spec.Trials() {
		if tr.Env == "crun" && tr.Block > 10 { // after the warm-up block and ten others
			continue
		}
		if err := w.Append(tr); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	res, err := Run(r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if has(res, "incomplete", "", "") || has(res, "incomplete", "crun", "") {
		t.Error("it is said to be incomplete")
	}
	if !strings.HasSuffix(res.Run.Repeat, " --until 5% --max-blocks 80") {
		t.Error(res.Run.Repeat)
	}
	var said []string
	for _, m := range res.Remarks {
		if m.Code == "looked" {
			said = append(said, m.Text)
		}
	}
	if len(said) != 2 || !strings.Contains(said[0], "left after 10 blocks") || !strings.HasSuffix(said[0], ": crun with hello") || !strings.Contains(said[1], "ended after 20 blocks: every ratio") {
		t.Errorf("%q", said)
	}
	c := cell(t, res, "startup", "crun")
	if q := c.Ratio("native"); c.N != 10 || q.Blocks != 10 {
		t.Errorf("crun: n %d, %d pairs", c.N, q.Blocks)
	}
}

// What can't be gated is refused before it is measured, and nothing else is.
func TestCanGate(t *testing.T) {
	base := analyze(t, session(1, 1, nil))
	ok := Thresholds{FailAbove: 0.05}
	for _, c := range []struct {
		name   string
		change func(*record.Run)
		t      Thresholds
		why    string
	}{
		{"alike", func(*record.Run) {}, ok, ""},
		{"another CPU", func(r *record.Run) { r.Host.CPU = "other" }, ok, "not measured alike"},
		{"another CPU, unlike", func(r *record.Run) { r.Host.CPU = "other" }, Thresholds{FailAbove: 0.05, Unlike: true}, ""},
		{"another cache", func(r *record.Run) { r.Protocol.Cache = "cold" }, ok, "cache"},
		{"more blocks", func(r *record.Run) { r.Protocol.Blocks = 40 }, ok, ""},
		{"another workload", func(r *record.Run) { r.Workloads[0].ID = "other" }, ok, "in common"},
		{"no baseline", func(r *record.Run) { r.Environments = r.Environments[2:] }, ok, "no baseline"},
		{"only the yardstick", func(r *record.Run) { r.Environments = r.Environments[:1] }, Thresholds{FailAbove: 0.05, Rules: []Rule{{Environment: "crun", Ignore: true}, {Environment: "runc", Ignore: true}, {Environment: "podman", Ignore: true}}}, "no cell has a threshold"},
		{"no threshold", func(*record.Run) {}, Thresholds{}, "no cell has a threshold"},
		{"a rule for nothing", func(*record.Run) {}, Thresholds{FailAbove: 0.05, Rules: []Rule{{Where: "x:1:1", Metric: "nothing", FailAbove: 0.1}}}, "matches no cell"},
		{"noise", func(r *record.Run) { r.Noise = []record.Noise{{From: record.NoiseSelfTest, Relative: 0.2}} }, ok, "noise floor"},
	} {
		run := session(2, 1, nil).Run()
		c.change(run)
		err := CanGate(base, run, c.t)
		var no *RefusedError
		if (err != nil) != (c.why != "") || err != nil && (!errors.As(err, &no) || !strings.Contains(no.Why, c.why) || no.Advice == "") {
			t.Errorf("%s: %v, not %q", c.name, err, c.why)
		}
	}
}

// A run that still goes on is looked at as it is; one that ended is to be whole,
// and so is BASE before anything is held against it.
func TestGateWhileRunning(t *testing.T) {
	base := analyze(t, session(1, 1, nil))
	next := analyze(t, session(2, 1, nil))
	next.Run.Status = "running"
	for looking, want := range map[bool]State{true: Passed, false: Inconclusive} {
		c, err := Between(base, next, CompareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Judge(Thresholds{FailAbove: 0.5, Looking: looking}); err != nil || c.Gate.State != want {
			t.Errorf("looking %v: %v %+v", looking, err, c.Gate)
		}
	}
	base.Run.Status = "interrupted"
	if err := CanGate(base, session(2, 1, nil).Run(), Thresholds{FailAbove: 0.5}); err == nil || !strings.Contains(err.Error(), "incomplete") {
		t.Errorf("BASE was interrupted: %v", err)
	}
}

// A gate's look lets go of what it has decided and of what it does not ask
// about, and ends with the first failure or with the last answer.
func TestGateLook(t *testing.T) {
	gated := func(limit float64, change func(*recordtest.Spec)) *Changes {
		c := changed(t, session(1, 1, nil), session(2, 1, change), CompareOptions{Filter: []Filter{{"metric", []string{"startup"}}}})
		c.next.Run.Gate = &record.Gate{Looks: 3}
		if err := c.Judge(Thresholds{FailAbove: limit, Rules: []Rule{{Environment: "podman", Ignore: true}}}); err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := gated(0.5, nil)
	if l := c.Look(); !l.Ended || c.Gate.State != Passed || l.Asked != 4 || l.Settled != 4 || c.Gate.Looks != 3 {
		t.Errorf("%+v %+v", c.Gate, l)
	}
	c = gated(0.5, func(s *recordtest.Spec) { s.Envs[2].StartUp *= 3 })
	if l := c.Look(); !l.Ended || c.Gate.State != GateFails || !strings.Contains(l.Why, "fails") {
		t.Errorf("%+v %+v", c.Gate, l)
	}
	c = gated(0.05, func(s *recordtest.Spec) { s.Envs[2].StartUp = scaled(s.Envs[2].StartUp, 1.05) })
	l := c.Look()
	gone := left(l)
	if l.Ended || gone["crun"] || gone["native"] || gone["floor"] || !gone["podman"] || !gone["runc"] {
		t.Errorf("%+v %+v", c.Gate, l)
	}
	// Three looks ask more of each than one.
	one := changed(t, session(1, 1, nil), session(2, 1, nil), CompareOptions{})
	if err := one.Judge(Thresholds{FailAbove: 0.5}); err != nil || one.Gate.Looks != 0 || one.Gate.Level != 0.95 {
		t.Errorf("%v %+v", err, one.Gate)
	}
}

// A part may have fewer blocks than the run: nothing is missing then.
func TestPartsHaveBlocks(t *testing.T) {
	part := func(blocks int, envs ...string) record.Part {
		return record.Part{Blocks: blocks, Environments: envs, Workloads: []string{"w"}}
	}
	s := &store{run: &record.Run{Protocol: record.Protocol{Blocks: 10}}}
	s.run.Study.Parts = []record.Part{part(0, "whole", "both"), part(6, "six", "both", "less"), part(4, "less"), part(20, "more")}
	for env, want := range map[string]int{"whole": 10, "both": 10, "six": 6, "less": 6, "more": 10} {
		if got := s.wanted(env, "w"); got != want {
			t.Errorf("%s takes part in %d blocks, not %d", env, got, want)
		}
	}
	s.run.Looks = []record.Look{{Blocks: 8, Ended: true}}
	if a, b := s.wanted("six", "w"), s.wanted("whole", "w"); a != 6 || b != 8 {
		t.Errorf("%d and %d blocks after a run that ended after 8", a, b)
	}
}
