package analyze

import (
	"math"
	"math/rand/v2"
	"testing"

	"plimsoll/internal/record"
)

// TestGateRates: on sessions of a drifting machine the gate fails for nothing
// at most 5 times in 200, and finds what is there.
func TestGateRates(t *testing.T) {
	const reps, envs, blocks = 300, 10, 20
	gate := func(r *rand.Rand, effect, limit float64) (failed, passed int) {
		for range reps {
			c := simulated(r, envs, blocks, effect)
			if err := c.Judge(Thresholds{FailAbove: limit}); err != nil {
				t.Fatal(err)
			}
			switch c.Gate.State {
			case GateFails:
				failed++
			case Passed:
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

// The same through the whole door: runs of one machine that is faster on one
// day than on the other.
func TestGateOnEqualRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("writes and reads 80 runs: left out with -short")
	}
	r := rand.New(rand.NewPCG(4, 4))
	failed, other := 0, 0
	for i := range 40 {
		speed := func() float64 { return math.Exp(0.05 * r.NormFloat64()) }
		c := changed(t, session(uint64(1000+2*i), speed(), nil), session(uint64(1001+2*i), speed(), nil), CompareOptions{Filter: []Filter{{"metric", []string{"startup", "whole"}}}})
		if err := c.Judge(Thresholds{FailAbove: 0.02}); err != nil {
			t.Fatal(err)
		}
		if c.Gate.State == GateFails {
			failed++
		}
		for i := range c.Cells {
			if v := c.Cells[i].Verdict; v == Better || v == Worse {
				other++
				break
			}
		}
	}
	if failed > 1 || other > 3 {
		t.Errorf("of 40 pairs of equal runs %d fail the gate, and %d are said to differ", failed, other)
	}
}

// simulated compares two sessions of several environments; all of NEW's are
// slower by effect. The noise: blocks that drift by 5 %, 3 % between medians,
// one value in twenty far out.
func simulated(r *rand.Rand, envs, blocks int, effect float64) *Changes {
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
	c := &Changes{base: &Result{}, next: &Result{}, Delta: 0.01}
	a, b := side(0), side(effect)
	for e := range envs {
		c.Cells = append(c.Cells, Change{Metric: record.LifeCycle[1], Env: itoa(e), Base: &Estimate{}, New: &Estimate{}, Against: "native", sample: sample{x: b[e], y: a[e]}})
	}
	c.judgeCells()
	return c
}
