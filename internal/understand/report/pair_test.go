package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/analyzetest"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/gate"
)

const oldBuild, newBuild = "oci/crun/build-old", "oci/crun/build-new"

// builds is a run of two builds, of which the new one takes so many times as long and
// scores as much more.
func builds(seed uint64, blocks int, times, noise float64) recordtest.Cells {
	s := recordtest.Spec{Name: "ab-crun", Seed: seed, Blocks: blocks, PerBlock: 1, Shared: 0.03,
		Workloads: []record.Workload{{ID: "hello", Name: "hello", Metrics: []record.Metric{{ID: "score", Unit: "ops/s", Better: record.HigherIsBetter}}}}}
	for _, level := range []string{"old", "new"} {
		s.Envs = append(s.Envs, recordtest.Environment("oci/crun/build-"+level, "oci", "", map[string]string{"runtime": "crun", "build": level}))
	}
	return recordtest.Cells{Spec: s, Noise: noise, Value: func(e *record.Environment, _ *record.Workload, metric string) (float64, bool) {
		v, ok := map[string]float64{"create": 10e6, "startup": 25e6, "score": 2000}[metric]
		if e.ID == newBuild {
			v *= times
		}
		return v, ok
	}}
}

// pairOf judges such a run, with a gate where there is a limit.
func pairOf(t *testing.T, c recordtest.Cells, limit float64, metrics ...string) *Pair {
	t.Helper()
	res := analyzetest.Run(t, c)
	if limit > 0 {
		res.Run.Gate = &record.Gate{Looks: 3}
	}
	return judged(t, res, limit, metrics)
}

func judged(t *testing.T, res *analyze.Result, limit float64, metrics []string, of ...compare.Filter) *Pair {
	t.Helper()
	got, err := compare.Within(res, oldBuild, newBuild, compare.Options{Filter: of})
	require.NoError(t, err)
	if limit > 0 {
		require.NoError(t, gate.Judge(got, gate.Thresholds{Rules: []gate.Rule{{Metric: metrics[0], FailAbove: limit}}}))
	}
	return PairOf("crun", got, metrics)
}

// TestPair: the verdict says what was put into the run, and how sure it is.
func TestPair(t *testing.T) {
	for _, c := range []struct {
		name   string
		run    recordtest.Cells
		limit  float64
		metric string
		want   compare.Direction
		says   []string
	}{
		{"slower", builds(1, 40, 1.05, 0.01), 0, "startup", compare.Worse, []string{"crun: new is slower than old: startup of hello +", "ms → ", "95 % interval, 40 blocks"}},
		{"faster", builds(2, 40, 0.9, 0.01), 0, "startup", compare.Better, []string{"new is faster than old", "startup of hello -"}},
		{"twice", builds(3, 40, 2.5, 0.01), 0, "startup", compare.Worse, []string{"startup of hello 2.", " × ["}},
		{"a higher score", builds(4, 40, 1.1, 0.01), 0, "score", compare.Better, []string{"new is better than old: score of hello +"}},
		{"no difference", builds(5, 60, 1, 0.005), 0, "startup", compare.Same, []string{"new and old differ by no more than 1 %"}},
		{"few and noisy", builds(6, 12, 1.01, 0.2), 0, "startup", compare.Unclear, []string{"cannot tell new from old", "nine of ten such runs find "}},
		{"too few", builds(7, 1, 2, 0.01), 0, "startup", compare.Unclear, []string{"cannot tell", "too few blocks"}},
		{"a gate that fails", builds(8, 40, 1.2, 0.02), 0.05, "startup", compare.Worse, []string{"slower", "98.33 % interval", "the gate fails (5 %)"}},
		{"a gate that passes", builds(9, 40, 1, 0.005), 0.05, "startup", compare.Same, []string{"the gate passes (5 %)"}},
		{"a gate that cannot tell", builds(10, 10, 1.05, 0.1), 0.05, "startup", compare.Unclear, []string{"cannot tell new", "the gate cannot tell (5 %)"}},
	} {
		p := pairOf(t, c.run, c.limit, c.metric)
		if p.Outcome != c.want || strings.Contains(p.Verdict, "\n") {
			t.Errorf("%s: %s, not %s: %s", c.name, p.Outcome, c.want, p.Verdict)
		}
		for _, s := range c.says {
			if !strings.Contains(p.Verdict, s) {
				t.Errorf("%s: no %q in %s", c.name, s, p.Verdict)
			}
		}
	}
	if p := pairOf(t, builds(1, 10, 1, 0.1), 0, "removal"); p != nil {
		t.Errorf("nothing was removed: %+v", p)
	}
}

// What was found on a tuned machine says so: it is not the one that users have.
func TestPairOfTuned(t *testing.T) {
	res := analyzetest.Run(t, builds(1, 20, 1.1, 0.01))
	res.Run.Protocol.Tuned = true
	p := judged(t, res, 0, []string{"startup"})
	if !strings.Contains(p.Verdict, "20 blocks, tuned)") || !p.Changes.Base.Tuned {
		t.Errorf("%s, %+v", p.Verdict, p.Changes.Base)
	}
	if s := sideText(p.Changes.New); !strings.HasSuffix(s, ", tuned") {
		t.Error(s)
	}
}

// TestPairOfOne: two names of one program are not told apart more often than the
// level allows, by the looks of a gate neither; and where they differ they are.
func TestPairOfOne(t *testing.T) {
	n := 200
	if testing.Short() {
		n = 60
	}
	many := func(seed uint64, times float64) *analyze.Result {
		c := builds(seed, 12, times, 0.05)
		first := c.Workloads[0]
		c.Workloads = nil
		for i := range n {
			first.ID = fmt.Sprintf("hello-%d", i)
			c.Workloads = append(c.Workloads, first)
		}
		return analyzetest.Run(t, c)
	}
	apart := func(res *analyze.Result, limit float64) (found int) {
		if limit > 0 {
			res.Run.Gate = &record.Gate{Looks: 3}
		}
		for _, w := range res.Workloads {
			p := judged(t, res, limit, []string{"startup"}, compare.Filter{Key: "workload", Values: []string{w.ID}})
			if p.Outcome == compare.Worse || p.Outcome == compare.Better {
				found++
			}
		}
		return found
	}
	one, slower := many(21, 1), many(22, 1.2)
	for _, limit := range []float64{0, 0.1} {
		if got := apart(one, limit); got > n*5/100 {
			t.Errorf("limit %g: %d of %d are told apart from themselves", limit, got, n)
		}
		if got := apart(slower, limit); got < n*95/100 {
			t.Errorf("limit %g: %d of %d that take a fifth longer are found", limit, got, n)
		}
	}
}

// TestPairFormats: the verdict is the last line of a text and the first of a page,
// and is data.
func TestPairFormats(t *testing.T) {
	p := pairOf(t, builds(8, 40, 1.2, 0.02), 0.05, "startup", "create")
	for _, f := range Pairs.Formats() {
		var b bytes.Buffer
		require.NoError(t, Pairs.Write(&b, f, p, Options{Width: 300}))
		s := strings.TrimSpace(b.String())
		switch f {
		case "text":
			if !strings.HasSuffix(s, "\n"+p.Verdict) || !strings.Contains(s, "create") {
				t.Errorf("%s:\n%s", f, s)
			}
		case "markdown":
			if !strings.HasPrefix(s, "**crun: new is slower") {
				t.Errorf("%s:\n%s", f, s)
			}
		case "json":
			var back Pair
			if err := json.Unmarshal(b.Bytes(), &back); err != nil || back.Verdict != p.Verdict || back.Outcome != compare.Worse || len(back.Changes.Cells) != 2 {
				t.Errorf("%v: %s", err, s)
			}
		default:
			if !strings.Contains(s, "worse") {
				t.Errorf("%s:\n%s", f, s)
			}
		}
	}
}
