package history

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/analyzetest"
	"plimsoll/internal/understand/analyze/compare"
)

// daily makes n runs of session, one a day, on a machine that is faster or
// slower by some per cent each day.
func daily(t testing.TB, n int, change func(i int, s *recordtest.Spec)) []Past {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var out []Past
	for i := range n {
		s := analyzetest.Session(uint64(i+10), math.Exp(0.05*rng.NormFloat64()), func(s *recordtest.Spec) {
			s.Blocks, s.ID = 8, fmt.Sprintf("r%02d", i)
			s.Started = time.Date(2026, 5, 1+i, 0, 0, 0, 0, time.UTC)
			if change != nil {
				change(i, s)
			}
		})
		out = append(out, Past{Dir: s.ID, Result: analyzetest.Run(t, s)})
	}
	return out
}

func histories(t testing.TB, runs []Past, o Options) *Histories {
	t.Helper()
	h, err := New(runs, nil, o)
	require.NoError(t, err)
	return h
}

// Twelve runs, from the eighth on crun takes 20 % more: found there, and
// nothing else, though the machine's speed moves by 5 %.
func TestHistoryFindsAChange(t *testing.T) {
	slower := func(i int, s *recordtest.Spec) {
		if i >= 7 {
			s.Envs[2].StartUp = analyzetest.Scaled(s.Envs[2].StartUp, 1.2)
		}
	}
	runs := daily(t, 12, slower)
	slices.Reverse(runs) // the order is that of their start
	h := histories(t, runs, Options{})
	x := &h.Histories[0]
	if len(h.Histories) != 1 || len(x.Series) != 5 || len(x.Changes) != 1 {
		t.Fatalf("%d histories, %d series, changes %+v", len(h.Histories), len(x.Series), x.Changes)
	}
	c := x.Changes[0]
	s := x.Series[c.Series]
	if s.Env != "crun" || s.Metric.ID != "startup" || s.Against != "native" || c.Before != 6 || c.After != 7 || !c.Confirmed || !c.Standing || c.Direction != compare.Worse ||
		*c.Ratio.Lo > 1.2 || *c.Ratio.Hi < 1.2 || c.P > 0.05 || x.Runs[c.After].Run != "r07" {
		t.Errorf("%s %+v", s.Env, c)
	}
	h.Judge()
	if h.Gate.State != compare.GateFails || len(h.Gate.Reasons) != 1 {
		t.Errorf("%+v", h.Gate)
	}
	// A change that is smaller than what is asked for is none.
	h = histories(t, runs, Options{Threshold: 0.3})
	h.Judge()
	if len(h.Histories[0].Changes) != 0 || h.Gate.State != compare.Passed || len(h.Histories[0].Series[2].Regimes) != 1 {
		t.Errorf("%+v %+v", h.Histories[0].Changes, h.Gate)
	}
	// Steps and chosen metrics, over what the baseline has.
	h = histories(t, runs, Options{Filter: []compare.Filter{{Key: "metric", Values: []string{"create"}}, {Key: "runtime", Values: []string{"crun"}}}})
	if x := h.Histories[0]; len(x.Series) != 1 || x.Series[0].AgainstMetric != "startup" || len(x.Changes) != 1 {
		t.Errorf("%+v", x)
	}
	var no *analyze.ChoiceError
	if _, err := New(runs, nil, Options{Filter: []compare.Filter{{Key: "runtime", Values: []string{"crum"}}}}); !errors.As(err, &no) {
		t.Errorf("%v", err)
	}
	// Absolute values hold the days in them, and say so.
	h = histories(t, runs, Options{Against: "none"})
	if !remarked(h.Histories[0], "absolute") || h.Histories[0].Series[0].Against != "" {
		t.Errorf("%+v", h.Histories[0].Remarks)
	}
}

func remarked(h History, code string) bool {
	for _, m := range h.Remarks {
		if m.Code == code {
			return true
		}
	}
	return false
}

// The last run alone is no change yet; with one more it is; and what came back
// no longer stands.
func TestHistoryConfirms(t *testing.T) {
	from := func(a, b int) func(int, *recordtest.Spec) {
		return func(i int, s *recordtest.Spec) {
			if i >= a && i < b {
				s.Envs[3].StartUp = analyzetest.Scaled(s.Envs[3].StartUp, 1.3)
			}
		}
	}
	h := histories(t, daily(t, 13, from(12, 13)), Options{})
	c := h.Histories[0].Changes
	if len(c) != 1 || c[0].Confirmed || c[0].After != 12 || !remarked(h.Histories[0], "unconfirmed") {
		t.Errorf("%+v", c)
	}
	if h.Judge(); h.Gate.State != compare.Inconclusive {
		t.Errorf("%+v", h.Gate)
	}
	h = histories(t, daily(t, 14, from(12, 14)), Options{})
	if c = h.Histories[0].Changes; len(c) != 1 || !c[0].Confirmed || c[0].Method != "t" {
		t.Errorf("%+v", c)
	}
	h = histories(t, daily(t, 18, from(6, 12)), Options{})
	if c = h.Histories[0].Changes; len(c) != 2 || c[0].Standing || c[0].Direction != compare.Worse || !c[1].Standing || c[1].Direction != compare.Better || c[0].Method != "hodges-lehmann" {
		t.Errorf("%+v", c)
	}
	if h.Judge(); h.Gate.State != compare.Passed {
		t.Errorf("%+v", h.Gate)
	}
	// One run that is off and then is not is no change.
	h = histories(t, daily(t, 14, from(8, 9)), Options{})
	if c = h.Histories[0].Changes; len(c) != 0 {
		t.Errorf("%+v", c)
	}
}

// What is missing, unlike, empty or too little is said, and never passes.
func TestHistoryNeverPassesSilently(t *testing.T) {
	runs := daily(t, 12, func(i int, s *recordtest.Spec) {
		switch i {
		case 3:
			s.Envs = s.Envs[1:] // without native
		case 11:
			s.Envs = s.Envs[:4] // without podman
		}
	})
	runs[5].Result.Run.Host.CPUs = 64
	runs[6].Result.Run.Study = "other"
	runs[7].Result.Run.ID, runs[7].Result.Run.Started = "r08", runs[8].Result.Run.Started
	runs[9].Result.Run.Blocks = 0
	runs[10].Result.Run.Status = "interrupted"
	h, err := New(runs, []SkippedRun{{"x", "torn"}}, Options{})
	require.NoError(t, err)
	if len(h.Histories) != 3 || len(h.Skipped) != 3 || len(h.Histories[0].Runs) != 8 {
		t.Fatalf("%d histories, skipped %+v", len(h.Histories), h.Skipped)
	}
	x := h.Histories[0]
	for _, code := range []string{"gap", "lost", "incomplete"} {
		if !remarked(x, code) {
			t.Errorf("no remark %s: %+v", code, x.Remarks)
		}
	}
	if !remarked(h.Histories[1], "short") {
		t.Errorf("%+v", h.Histories[1].Remarks)
	}
	if apart := analyze.Find(h.Histories[1].Remarks, func(m *record.Remark) bool { return m.Code == "apart" }); apart == nil || !strings.Contains(apart.Text, "machine cpus 64 against ") {
		t.Errorf("why it stands apart is not said: %+v", h.Histories[1].Remarks)
	}
	if remarked(x, "apart") || remarked(h.Histories[2], "apart") {
		t.Error("the first of its study stands apart")
	}
	h.Judge()
	if h.Gate.State != compare.GateFails || !strings.Contains(strings.Join(h.Gate.Reasons, "\n"), "has lost startup of hello in podman") || len(h.Gate.Reasons) != 6 {
		t.Errorf("%+v", h.Gate)
	}
	if _, err := New(runs[9:10], nil, Options{}); err == nil {
		t.Error("no run is a history")
	}
}

// The interval of a change covers its truth, though the place of the change was
// chosen from the same values: by simulation, of steps of five spreads.
func TestHistoryIntervalsCover(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for seconds: left out with -short")
	}
	const n, step, sigma = 600, 0.1, 0.02
	for _, c := range []struct{ before, after int }{{12, 12}, {12, 4}, {18, 3}} {
		covered, found := 0, 0
		for r := range n {
			rng := rand.New(rand.NewPCG(uint64(r), 9))
			logs := make([]float64, c.before+c.after)
			for i := range logs {
				logs[i] = sigma * rng.NormFloat64()
				if i >= c.before {
					logs[i] += step
				}
			}
			b := stats.Breaks([][]float64{logs}, stats.BreakOptions{Permutations: 99, Seed: uint64(r)})[0]
			h := History{Series: []Series{{logs: logs}}}
			h.changesOf(0, b, 0.05)
			if len(h.Changes) != 1 {
				continue
			}
			found++
			if q := h.Changes[0].Ratio; q.Lo != nil && math.Log(*q.Lo) <= step && math.Log(*q.Hi) >= step {
				covered++
			}
		}
		share := float64(covered) / float64(found)
		t.Logf("%d and %d runs: found in %d of %d, covered %.3f", c.before, c.after, found, n, share)
		if found < n*3/4 || share < 0.92 {
			t.Errorf("%d and %d runs: found in %d of %d, covered %.3f", c.before, c.after, found, n, share)
		}
	}
}

// Histories in which nothing changed but the machine's speed, by 5 % from day
// to day, show at most as many changes as chance allows, however small a change
// is asked for.
func TestHistoryFalseAlarms(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for seconds: left out with -short")
	}
	const n = 15
	found := 0
	for k := range n {
		runs := daily(t, 10, func(i int, s *recordtest.Spec) {
			s.Seed, s.Blocks, s.Warmup = uint64(1000*k+i), 6, 0
		})
		h := histories(t, runs, Options{Threshold: 1e-6, Seed: uint64(k)})
		if slices.ContainsFunc(h.Histories[0].Changes, func(c Change) bool { return c.Confirmed }) {
			found++
		}
	}
	// Of 15, more than 3 come in 1 of 180 cases where the chance is 5 %.
	if found > 3 {
		t.Errorf("%d of %d histories show a change", found, n)
	}
	t.Logf("%d of %d", found, n)
}
