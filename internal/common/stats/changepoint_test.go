package stats

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"plimsoll/internal/common/require"
)

// TestBreaksReference compares with testdata/changepoint.json, made by
// changepoint.py beside it.
func TestBreaksReference(t *testing.T) {
	data, err := os.ReadFile("testdata/changepoint.json")
	require.NoError(t, err)
	var cases []struct {
		X []float64
		K int
		Q float64
		P *float64
	}
	require.NoError(t, json.Unmarshal(data, &cases))
	if len(cases) < 9 {
		t.Fatalf("%d cases", len(cases))
	}
	const perms = 4999
	for _, c := range cases {
		k, q := divide(c.X, nil)
		if c.Q <= 0 {
			if k != 0 {
				t.Errorf("%d values: a break at %d, want none", len(c.X), k)
			}
			continue
		}
		if k != c.K || math.Abs(q-c.Q) > 1e-9*c.Q {
			t.Errorf("%d values: %v at %d, want %v at %d", len(c.X), q, k, c.Q, c.K)
		}
		if c.P == nil {
			continue
		}
		// Alpha of 1 says every break, whatever its p.
		all := Breaks([][]float64{c.X}, BreakOptions{Alpha: 1, Permutations: perms, Seed: 1})[0]
		i := slices.IndexFunc(all, func(b Break) bool { return b.At == k })
		if i < 0 {
			t.Errorf("%d values: no break at %d in %v", len(c.X), k, all)
			continue
		}
		if far := 4*math.Sqrt(*c.P*(1-*c.P)/perms) + 1./perms; math.Abs(all[i].P-*c.P) > far {
			t.Errorf("%d values: p is %v, by all permutations %v", len(c.X), all[i].P, *c.P)
		}
	}
}

func TestBreaksEdges(t *testing.T) {
	nan := math.NaN()
	step := []float64{0, .01, .02, .01, 0, .02, 1, 1.01, 1.02, 1, 1.01}
	gaps := []float64{nan, 0, .01, nan, .02, .01, 0, .02, nan, nan, 1, 1.01, nan, 1.02, 1, 1.01}
	got := Breaks([][]float64{step, gaps, nil, {1}, {2, 2, 2, 2, 2, 2, 2, 2, 2}, {nan, nan}}, BreakOptions{})
	if len(got[0]) != 1 || got[0][0].At != 6 || len(got[1]) != 1 || got[1][0].At != 10 {
		t.Errorf("%v", got)
	}
	for _, b := range got[2:] {
		if len(b) > 0 {
			t.Errorf("a break in nothing: %v", b)
		}
	}
	// The same input and seed give the same output, whatever the processors do.
	if again := Breaks([][]float64{step}, BreakOptions{Seed: 5}); again[0][0] != Breaks([][]float64{step}, BreakOptions{Seed: 5})[0][0] {
		t.Errorf("%v", again)
	}
	// Of 7 values no break can be told from chance, of MinBreakable it can.
	short := []float64{0, .01, .02, .01, 1, 1.01, 1.02, 1}
	if b := Breaks([][]float64{short[1:]}, BreakOptions{Permutations: 4999}); len(b[0]) != 0 {
		t.Errorf("%v", b)
	}
	if b := Breaks([][]float64{short}, BreakOptions{Permutations: 4999}); len(short) != MinBreakable || len(b[0]) != 1 || b[0][0].At != 4 {
		t.Errorf("%v", b)
	}
}

// history simulates series that share what a session does to all of them.
func history(rng *rand.Rand, series, length int, sigma, shared, far float64, step func(s, i int) float64) [][]float64 {
	out := make([][]float64, series)
	for s := range out {
		out[s] = make([]float64, length)
	}
	for i := range length {
		all := shared * rng.NormFloat64()
		for s := range out {
			out[s][i] = all + sigma*rng.NormFloat64() + step(s, i)
			if rng.Float64() < far {
				out[s][i] += 10 * sigma * math.Abs(rng.NormFloat64())
			}
		}
	}
	return out
}

func none(int, int) float64 { return 0 }

// breakRates counts by simulation in how many of n histories any break is
// found, and in how many exactly those that are true.
func breakRates(n int, options BreakOptions, make func(*rand.Rand) [][]float64, truth map[int][]int) (found, exact float64) {
	for r := range n {
		options.Seed = uint64(r)
		got := Breaks(make(rand.New(rand.NewPCG(77, uint64(r)))), options)
		any, right := false, true
		for s, b := range got {
			var at []int
			for _, one := range b {
				at = append(at, one.At)
			}
			any = any || len(at) > 0
			right = right && slices.Equal(at, truth[s])
		}
		if any {
			found++
		}
		if right {
			exact++
		}
	}
	return found / float64(n), exact / float64(n)
}

// TestBreaksFalseAlarms: of histories in which nothing changed, at most 5 %
// (here with what chance does to the number of simulations) show any break,
// however many series they have, alike or not, with outliers or without.
func TestBreaksFalseAlarms(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for seconds: left out with -short")
	}
	const n = 300
	o := BreakOptions{Permutations: 99}
	for _, c := range []struct {
		series, length int
		shared, far    float64
	}{{1, 12, 0, 0}, {10, 12, 0.02, 0.05}, {20, 24, 0, 0}, {20, 24, 0.03, 0.05}} {
		found, _ := breakRates(n, o, func(rng *rand.Rand) [][]float64 {
			return history(rng, c.series, c.length, 0.02, c.shared, c.far, none)
		}, nil)
		t.Logf("%d series of %d, shared %v, far out %v: %.3f", c.series, c.length, c.shared, c.far, found)
		if most := 0.05 + 3*math.Sqrt(0.05*0.95/n); found > most {
			t.Errorf("%d series of %d: %.3f of the histories show a break, at most %.3f may", c.series, c.length, found, most)
		}
	}
}

// TestBreaksPower: one series of ten steps by 10 % with a spread of 2 %. It is
// found, there and nowhere else, also where only two values follow.
func TestBreaksPower(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for seconds: left out with -short")
	}
	const n = 60
	for _, c := range []struct {
		name         string
		length       int
		at           []int
		step         func(i int) float64
		found, exact float64
	}{
		{"in the middle", 20, []int{10}, func(i int) float64 { return 0.1 * b2f(i >= 10) }, 0.98, 0.85},
		{"confirmed by one, after 12", 14, []int{12}, func(i int) float64 { return 0.1 * b2f(i >= 12) }, 0.35, 0.25},
		{"confirmed by two, after 12", 15, []int{12}, func(i int) float64 { return 0.1 * b2f(i >= 12) }, 0.8, 0.7},
		{"confirmed by one, after 20", 22, []int{20}, func(i int) float64 { return 0.1 * b2f(i >= 20) }, 0.65, 0.55},
		{"confirmed by two, after 20", 23, []int{20}, func(i int) float64 { return 0.1 * b2f(i >= 20) }, 0.8, 0.7},
		{"there and back", 30, []int{10, 20}, func(i int) float64 { return 0.1 * b2f(i >= 10 && i < 20) }, 0.95, 0.8},
	} {
		found, exact := breakRates(n, BreakOptions{Permutations: 199}, func(rng *rand.Rand) [][]float64 {
			return history(rng, 10, c.length, 0.02, 0, 0, func(s, i int) float64 {
				if s != 3 {
					return 0
				}
				return c.step(i)
			})
		}, map[int][]int{3: c.at})
		t.Logf("%s: found in %.2f, right in %.2f", c.name, found, exact)
		if found < c.found || exact < c.exact {
			t.Errorf("%s: found in %.2f (wanted %.2f), right in %.2f (wanted %.2f)", c.name, found, c.found, exact, c.exact)
		}
	}
}

func b2f(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// TestPooledAgrees: of the same number of values pooling gives Welch's
// standard error, and of one value the prediction test is the pooled one.
func TestPooledAgrees(t *testing.T) {
	simulates(t)
	rng := rand.New(rand.NewPCG(5, 6))
	covered, alarms := 0, 0
	const n = 4000
	for range n {
		x, y := normals(rng, 9, 0), normals(rng, 2, 1)
		if _, i, ok := PooledInterval(y, x, Level); ok && i.Lo <= 1 && i.Hi >= 1 {
			covered++
		}
		if PredictionTest(x, rng.NormFloat64()) < 0.05 {
			alarms++
		}
	}
	if c := float64(covered) / n; c < 0.94 || c > 0.96 {
		t.Errorf("the pooled interval covers %.3f", c)
	}
	if a := float64(alarms) / n; a < 0.04 || a > 0.06 {
		t.Errorf("the prediction test alarms in %.3f", a)
	}
	x, y := normals(rng, 9, 0), []float64{1.7}
	d, i, _ := PooledInterval(y, x, Level)
	// The p at which the pooled interval ends at 0 is the prediction test's.
	if p := PredictionTest(x, 1.7); (p < 0.05) != (i.Lo > 0 || i.Hi < 0) || math.IsNaN(d) {
		t.Errorf("p %v, interval %v", p, i)
	}
	if _, _, ok := PooledInterval(y, y, Level); ok {
		t.Error("two values carry an interval")
	}
	if PredictionTest([]float64{1, 1, 1}, 1) != 1 || PredictionTest([]float64{1, 1, 1}, 2) != 0 {
		t.Error("values that are all alike")
	}
}

func normals(rng *rand.Rand, n int, mean float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = mean + rng.NormFloat64()
	}
	return out
}
