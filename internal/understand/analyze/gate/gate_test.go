package gate

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/analyzetest"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/sample"
)

// TestGateRates: on sessions of a drifting machine the gate fails for nothing
// at most 5 times in 200, and finds what is there.
func TestGateRates(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for seconds: left out with -short")
	}
	const reps, envs, blocks = 300, 10, 20
	gate := func(r *rand.Rand, effect, limit float64) (failed, passed int) {
		for range reps {
			c := simulated(r, envs, blocks, effect)
			require.NoError(t, Judge(c, Thresholds{FailAbove: limit}))
			switch c.Gate.State {
			case compare.GateFails:
				failed++
			case compare.Passed:
				passed++
			}
		}
		return failed, passed
	}
	for _, k := range []struct {
		effect, limit        float64
		leastFails, mostFail float64
	}{
		{0, 0.005, 0, 0.025}, // the worst case: hardly any room
		{0, 0.05, 0, 0.005},
		{0.03, 0.05, 0, 0.005},
		{0.05, 0.05, 0, 0.025},
		{0.15, 0.05, 0.9, 1},
	} {
		failed, passed := gate(rand.New(rand.NewPCG(8, uint64(1000*k.effect))), k.effect, k.limit)
		rate := float64(failed) / reps
		t.Logf("true %+.0f %%, threshold %.1f %%: fails in %.1f %%, passes in %.1f %%", 100*k.effect, 100*k.limit, 100*rate, 100*float64(passed)/reps)
		if rate < k.leastFails || rate > k.mostFail {
			t.Errorf("true %+.0f %%, threshold %.1f %%: fails in %.1f %%", 100*k.effect, 100*k.limit, 100*rate)
		}
	}
}

// The same through the whole door, files and all: of 200 pairs of equal runs,
// on a machine that is faster on one day than on the other, the gate fails at
// most 5.
func TestGateOnEqualRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for seconds: left out with -short")
	}
	const pairs, shards = 200, 4
	var failed, other atomic.Int32
	t.Run("pairs", func(t *testing.T) {
		for shard := range shards {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(4, uint64(shard)))
				few := func(s *recordtest.Spec) { s.Envs, s.Blocks = s.Envs[:4], 10 }
				// Each run is NEW once and then BASE, as in a history.
				var base *analyze.Result
				for i := range pairs/shards + 1 {
					next := analyzetest.Run(t, analyzetest.Session(uint64(1000*shard+i), math.Exp(0.05*r.NormFloat64()), few))
					if base == nil {
						base = next
						continue
					}
					c, err := compare.Between(base, next, compare.Options{Filter: []compare.Filter{{Key: "metric", Values: []string{"startup", "whole"}}}})
					if err == nil {
						err = Judge(c, Thresholds{FailAbove: 0.02})
					}
					if base = next; err != nil {
						t.Error(err)
						return
					}
					if c.Gate.State == compare.GateFails {
						failed.Add(1)
					}
					if slices.ContainsFunc(c.Cells, func(ch compare.Change) bool { return ch.Verdict == compare.Better || ch.Verdict == compare.Worse }) {
						other.Add(1)
					}
				}
			})
		}
	})
	t.Logf("of %d pairs of equal runs %d fail the gate, and %d are said to differ", pairs, failed.Load(), other.Load())
	if failed.Load() > 5 || other.Load() > pairs*3/40 {
		t.Errorf("of %d pairs of equal runs %d fail the gate, and %d are said to differ", pairs, failed.Load(), other.Load())
	}
}

// simulated compares two sessions of several environments; all of NEW's are
// slower by effect. The noise: blocks that drift by 5 %, 3 % between medians,
// one value in twenty far out.
func simulated(r *rand.Rand, envs, blocks int, effect float64) *compare.Changes {
	side := func(effect float64) [][]float64 {
		speed := 0.05 * r.NormFloat64()
		logs := make([][]float64, envs)
		for range blocks {
			block := speed + 0.05*r.NormFloat64()
			value := func() float64 {
				v := block + 0.03*r.NormFloat64()
				if r.Float64() < 0.05 {
					v += 0.3 * r.ExpFloat64()
				}
				return v
			}
			native := value()
			for e := range logs {
				logs[e] = append(logs[e], value()+math.Log1p(effect)-native)
			}
		}
		return logs
	}
	done := &analyze.Result{Run: analyze.RunInfo{Status: "done"}}
	c := &compare.Changes{BaseRun: done, NewRun: done, Delta: 0.01}
	a, b := side(0), side(effect)
	for e := range envs {
		c.Cells = append(c.Cells, compare.Change{Metric: record.LifeCycle[1], Env: strconv.Itoa(e), Base: &sample.Estimate{}, New: &sample.Estimate{}, Against: "native", Sample: sample.Sample{X: b[e], Y: a[e]}})
	}
	c.Estimate()
	return c
}
