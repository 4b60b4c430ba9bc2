package sequential_test

import (
	"flag"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/gate"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/analyze/sequential"
)

// more is how many times as often as a test repeats: -more 40
// takes enough for the first digit behind the comma.
var more = flag.Int("more", 1, "repeat simulations so many times as often")

// machine draws log times of equal environments, block by block: blocks drift,
// trials scatter by sd, one in twenty lies far out.
type machine struct {
	r  *rand.Rand
	sd float64
}

func (m machine) block(envs int) []float64 {
	drift := 0.05 * m.r.NormFloat64()
	out := make([]float64, envs)
	for e := range out {
		out[e] = drift + m.sd*m.r.NormFloat64()
		if m.r.Float64() < 0.05 {
			out[e] += 10 * m.sd * m.r.ExpFloat64()
		}
	}
	return out
}

// adaptive runs a baseline and some environments that are equal to it until
// every ratio is known to ±width, as a run does.
func (m machine) adaptive(envs, most int, width float64) (t *analyze.Table, medians [][]float64, blocks int) {
	medians = make([][]float64, envs)
	plan := make([]record.Environment, envs)
	gone := make([]bool, envs)
	for e := range plan {
		plan[e].ID = strconv.Itoa(e)
	}
	plan[0].Baseline = "native"
	for blocks = 1; ; blocks++ {
		for e, v := range m.block(envs) {
			if gone[e] {
				v = math.NaN()
			}
			medians[e] = append(medians[e], math.Exp(v))
		}
		if !sequential.LooksAt(blocks) && blocks < most {
			continue
		}
		t = tableOf(plan, medians)
		settled := 0
		for e := 1; e < envs; e++ {
			gone[e] = gone[e] || sequential.HalfWidth(t, e, plan) <= width
			if gone[e] {
				settled++
			}
		}
		if settled == envs-1 || blocks >= most {
			return t, medians, blocks
		}
	}
}

func tableOf(plan []record.Environment, medians [][]float64) *analyze.Table {
	t := &analyze.Table{}
	for e := range plan {
		one := 1.0
		t.Cells = append(t.Cells, analyze.Cell{Env: plan[e].ID, Median: &sample.Estimate{Value: one}, ByBlock: medians[e],
			Ratios: []analyze.Ratio{{Baseline: "native", Env: plan[0].ID}}})
	}
	return t
}

// TestUntilRates: where the width of intervals decides when to stop, they
// still hold the truth in 94 to 95 of 100 cases, and equal environments are
// not told apart more often than with a fixed number of blocks. Where p
// decides, they are in a fifth of all runs: the simulation can see that.
func TestUntilRates(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for seconds: left out with -short")
	}
	const most = 80
	reps := 150 * *more
	for _, c := range []struct{ sd, width float64 }{{0.02, 0.02}, {0.03, 0.02}, {0.05, 0.02}, {0.05, 0.05}, {0.10, 0.05}} {
		m := machine{rand.New(rand.NewPCG(11, uint64(1000*c.sd+100*c.width))), c.sd}
		const envs = 6
		held, ratios, alarms, sum := 0, 0, 0, 0
		left := 0
		for range reps {
			tab, medians, blocks := m.adaptive(envs, most, c.width)
			sum += blocks
			for e := 1; e < envs; e++ {
				q, d := analyze.Compare(medians[e], medians[0], 0.01)
				if ratios++; *q.Lo <= 1 && 1 <= *q.Hi {
					held++
				}
				if len(d) < blocks {
					left++
				}
			}
			tab.Compare(make([]record.Environment, envs), medians, 0.01)
			for _, p := range tab.Pairs {
				if p.Holm != nil && *p.Holm < sample.Alpha {
					alarms++
					break
				}
			}
		}
		cover, alarm := float64(held)/float64(ratios), float64(alarms)/float64(reps)
		t.Logf("scatter %.0f %%, until ±%.0f %%: %.1f blocks, %.0f %% of cells left earlier; intervals hold in %.1f %%; a run has any false difference in %.1f %%",
			100*c.sd, 100*c.width, float64(sum)/float64(reps), 100*float64(left)/float64(ratios), 100*cover, 100*alarm)
		// 150 repetitions of 5 ratios that share a baseline scatter by 1.2 %.
		slack := 0.025 / math.Sqrt(float64(*more))
		if cover < 0.943-slack || cover > 0.97+slack {
			t.Errorf("scatter %.0f %%, until ±%.0f %%: the intervals hold in %.1f %%", 100*c.sd, 100*c.width, 100*cover)
		}
		if alarm > 0.05+0.05/math.Sqrt(float64(*more)) {
			t.Errorf("scatter %.0f %%, until ±%.0f %%: %.1f %% of runs have a false difference", 100*c.sd, 100*c.width, 100*alarm)
		}
	}

	m := machine{rand.New(rand.NewPCG(12, 12)), 0.03}
	every := 0
	for range 2 * reps {
		var d []float64
		for n := 1; n <= most; n++ {
			b := m.block(2)
			if d = append(d, b[1]-b[0]); n >= sequential.FirstLook && stats.SignedRank(d) < sample.Alpha {
				every++
				break
			}
		}
	}
	rate := float64(every) / float64(2*reps)
	t.Logf("stopping when p < 5 %%, looked at after every block: %.1f %% of runs find a difference that is not there", 100*rate)
	if rate < 0.15 {
		t.Errorf("stopping at p < 5 %% finds a difference in %.1f %% of runs only: this simulation could not see a bad rule", 100*rate)
	}
}

// gated runs until its gate has decided, as a run does: against an earlier
// session of baseBlocks, or against another environment of the same run where
// that is 0.
func (m machine) gated(t *testing.T, envs, baseBlocks int, effect, limit float64) (compare.State, int) {
	t.Helper()
	session := func(blocks int, effect float64) [][]float64 {
		logs := make([][]float64, envs)
		for range blocks {
			b := m.block(2 * envs)
			for e := range logs {
				logs[e] = append(logs[e], b[2*e+1]+math.Log1p(effect)-b[2*e])
			}
		}
		return logs
	}
	var base [][]float64
	if baseBlocks > 0 {
		base = session(baseBlocks, 0)
	}
	all := session(gate.Looks[len(gate.Looks)-1], effect)
	n := make([]int, envs) // the blocks of a cell that left, 0 while it is in
	next := &analyze.Result{Run: analyze.RunInfo{Status: "done", Gate: &record.Gate{Looks: len(gate.Looks)}}}
	for _, blocks := range gate.Looks {
		c := &compare.Changes{BaseRun: &analyze.Result{Run: analyze.RunInfo{Status: "done"}}, NewRun: next, Delta: 0.01, Interleaved: base == nil}
		for e := range envs {
			use := blocks
			if n[e] > 0 {
				use = n[e]
			}
			s := sample.Sample{X: all[e][:use], Paired: true}
			if base != nil {
				s = sample.Sample{X: all[e][:use], Y: base[e]}
			}
			c.Cells = append(c.Cells, compare.Change{Metric: record.LifeCycle[1], Env: strconv.Itoa(e), Base: &sample.Estimate{}, New: &sample.Estimate{}, Against: "native", Sample: s})
		}
		c.Estimate()
		require.NoError(t, gate.Judge(c, gate.Thresholds{FailAbove: limit}))
		if c.Gate.State != compare.Inconclusive {
			return c.Gate.State, blocks
		}
		for e := range envs {
			if c.Cells[e].Gate.State == compare.Passed && n[e] == 0 {
				n[e] = blocks
			}
		}
	}
	return compare.Inconclusive, gate.Looks[len(gate.Looks)-1]
}

// TestSequentialGateRates: a gate that ends as soon as it can tell errs as
// seldom as one that looks once.
func TestSequentialGateRates(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for seconds: left out with -short")
	}
	const limit = 0.05
	reps := 400 * *more
	for _, c := range []struct {
		envs, base           int
		effect               float64
		leastPass, leastFail float64
		mostFail, mostBlocks float64
	}{
		{1, 0, 0, 0.97, 0, 0.003, 16}, // pairs of one run
		{1, 0, 0.03, 0, 0, 0.003, 40},
		{1, 0, 0.05, 0, 0, 0.025, 40},
		{1, 0, 0.10, 0, 0.95, 1, 18},
		{1, 20, 0, 0.9, 0, 0.003, 25}, // against an earlier session
		{1, 20, 0.03, 0, 0, 0.003, 40},
		{1, 20, 0.05, 0, 0, 0.025, 40},
		{1, 20, 0.10, 0, 0.9, 1, 25},
		{10, 20, 0.05, 0, 0, 0.025, 40},
	} {
		m := machine{rand.New(rand.NewPCG(13, uint64(10_000*c.effect)+uint64(100*c.envs+c.base))), 0.03 / math.Sqrt2}
		failed, passed, sum := 0, 0, 0
		n := reps / c.envs
		for range n {
			s, blocks := m.gated(t, c.envs, c.base, c.effect, limit)
			sum += blocks
			switch s {
			case compare.GateFails:
				failed++
			case compare.Passed:
				passed++
			}
		}
		fails, passes, mean := float64(failed)/float64(n), float64(passed)/float64(n), float64(sum)/float64(n)
		against := "pairs of one run"
		if c.base > 0 {
			against = "BASE of " + strconv.Itoa(c.base) + " blocks"
		}
		t.Logf("%d cells, %s, true %+.0f %%, threshold %.0f %%: fails in %.1f %%, passes in %.1f %%, after %.1f blocks", c.envs, against, 100*c.effect, 100*limit, 100*fails, 100*passes, mean)
		slack := 0.02 / math.Sqrt(float64(*more))
		if passes < c.leastPass-slack || fails < c.leastFail-slack || fails > c.mostFail+slack || mean > c.mostBlocks {
			t.Errorf("%d cells, %s, true %+.0f %%: fails in %.1f %%, passes in %.1f %%, after %.1f blocks", c.envs, against, 100*c.effect, 100*fails, 100*passes, mean)
		}
	}
}

// TestDetectable: what a run is said to find, it finds in nine of ten cases.
func TestDetectable(t *testing.T) {
	for _, n := range []int{10, 20, 40} {
		const sd = 0.04
		reps := 800 * *more
		r := rand.New(rand.NewPCG(14, uint64(n)))
		effect, found := sequential.Detectable(sd, n), 0
		for range reps {
			d := make([]float64, n)
			for i := range d {
				d[i] = effect + sd*r.NormFloat64()
			}
			if stats.SignedRank(d) < sample.Alpha {
				found++
			}
		}
		rate := float64(found) / float64(reps)
		t.Logf("%d blocks with a scatter of 4 %%: %.2f %% is found in %.1f %%", n, 100*math.Expm1(effect), 100*rate)
		if rate < 0.86 || rate > 0.94 {
			t.Errorf("%d blocks: %.2f %% is found in %.1f %% of runs", n, 100*math.Expm1(effect), 100*rate)
		}
	}
}
