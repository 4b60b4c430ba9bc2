package gate

import (
	"math"
	"math/rand/v2"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/sample"
)

// budgeted carries out a gate on pairs that differ by a shift: it says whether it failed,
// at which look, and whether it passed.
func budgeted(t *testing.T, r *rand.Rand, shift, limit float64, g *record.Gate, blocks int) (failed, passed bool) {
	t.Helper()
	const sd = 0.03
	var x []float64
	for range blocks {
		x = append(x, shift+sd*r.NormFloat64())
	}
	for _, n := range append(append([]int{}, g.At...), blocks) {
		run := &analyze.Result{Run: analyze.RunInfo{Status: "done", Blocks: n, Gate: g}}
		c := &compare.Changes{Interleaved: true, BaseRun: run, NewRun: run, Delta: 0.01, Cells: []compare.Change{{
			Metric: record.LifeCycle[1], Env: "a", Base: &sample.Estimate{}, New: &sample.Estimate{}, Sample: sample.Sample{Paired: true, X: x[:n]}}}}
		c.Estimate()
		require.NoError(t, Judge(c, Thresholds{FailAbove: limit}))
		switch c.Gate.State {
		case compare.GateFails:
			return true, false
		case compare.Passed:
			return false, true
		}
	}
	return false, false
}

// TestShares: however the level is split over the looks, a gate errs as seldom as it says;
// with most of it left for the last look it finds more.
func TestShares(t *testing.T) {
	const limit, blocks, reps = 0.01, 120, 1500
	at := Within(blocks)
	shares := &record.Gate{Budget: true, Looks: len(at) + 1, At: at, Shares: Shares(at)}
	alike := &record.Gate{Budget: true, Looks: len(at) + 1, At: at}
	count := func(g *record.Gate, worse float64) (fails, passes int) {
		r := rand.New(rand.NewPCG(3, 5))
		for range reps {
			failed, passed := budgeted(t, r, math.Log1p(worse), limit, g, blocks)
			if failed {
				fails++
			}
			if passed {
				passes++
			}
		}
		return fails, passes
	}
	// 2.5 % of 1500 are 37.5, with a standard deviation of 6.
	fails, passes := count(shares, limit)
	if fails > 56 || passes > 56 {
		t.Errorf("of what is at the threshold %d of %d fail and %d pass", fails, reps, passes)
	}
	now, _ := count(shares, 0.019)
	before, _ := count(alike, 0.019)
	if now < before+reps/50 || now > reps*9/10 {
		t.Errorf("%d of %d are found, with equal shares %d", now, reps, before)
	}
}

// TestShareOfLook: each look has its own, by the blocks that are done; shares that can't
// be are not believed.
func TestShareOfLook(t *testing.T) {
	g := &record.Gate{Looks: 3, At: []int{25, 50}, Shares: []float64{0.1, 0.2, 0.7}}
	for blocks, want := range map[int]float64{10: 0.1, 25: 0.1, 26: 0.2, 50: 0.2, 51: 0.7, 400: 0.7} {
		if got := g.Share(blocks); got != want {
			t.Errorf("after %d blocks %v", blocks, got)
		}
	}
	for _, bad := range []record.Gate{
		{Looks: 3}, {Looks: 3, At: []int{25, 50}}, {Looks: 3, At: []int{25, 50}, Shares: []float64{0.5, 0.5, 0.5}},
		{Looks: 3, At: []int{25, 50}, Shares: []float64{-1, 1, 1}}, {Looks: 3, At: []int{25}, Shares: []float64{0.1, 0.2, 0.7}},
		{Looks: 3, At: []int{25, 50}, Shares: []float64{0.3, 0.7}}, {Looks: 3, At: []int{25, 50}, Shares: []float64{math.NaN(), 0.2, 0.7}},
	} {
		if got := bad.Share(100); math.Abs(got-1.0/3) > 1e-12 {
			t.Errorf("%+v: %v", bad, got)
		}
	}
	if got := (&record.Gate{}).Share(5); got != 1 {
		t.Errorf("of one look %v", got)
	}
	for blocks := 4; blocks < 200; blocks++ {
		at := Within(blocks)
		sum := 0.0
		for _, s := range Shares(at) {
			sum += s
		}
		if len(at) > 0 && (len(Shares(at)) != len(at)+1 || math.Abs(sum-1) > 1e-12) {
			t.Errorf("%v: %v", at, Shares(at))
		}
	}
}
