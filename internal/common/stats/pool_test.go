package stats

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"plimsoll/internal/common/require"
)

// TestPoolReference: the same as statsmodels and the formulas (testdata/pool.py),
// where variances are known.
func TestPoolReference(t *testing.T) {
	data, err := os.ReadFile("testdata/pool.json")
	require.NoError(t, err)
	var cases []struct {
		Y, V, Nu                         []float64
		Center, Tau, I2, Q, Chi, Welch   float64
		Interval, Predicted, TauInterval [2]float64
	}
	require.NoError(t, json.Unmarshal(data, &cases))
	for _, c := range cases {
		known, estimated := make([]Group, len(c.Y)), make([]Group, len(c.Y))
		for i, y := range c.Y {
			known[i] = Group{y, c.V[i], math.Inf(1)}
			estimated[i] = Group{y, c.V[i], c.Nu[i]}
		}
		p, ok := Pool(known, Level)
		if !ok {
			t.Fatalf("%d groups are not pooled", len(c.Y))
		}
		want(t, "center", p.Center, c.Center)
		want(t, "tau", p.Tau, c.Tau)
		want(t, "I2", p.I2, c.I2)
		for i, e := range []Interval{p.Interval, p.Predicted, p.TauInterval} {
			w := [3][2]float64{c.Interval, c.Predicted, c.TauInterval}[i]
			want(t, "lower end", e.Lo, w[0])
			want(t, "upper end", e.Hi, w[1])
		}
		q, chi := Alike(known)
		want(t, "Q", q, c.Q)
		want(t, "p by chi-squared", chi, c.Chi)
		_, welch := Alike(estimated)
		want(t, "p by Welch", welch, c.Welch)
	}
}

func TestPoolRefuses(t *testing.T) {
	g := []Group{{1, 1, 9}, {1, 1, 9}, {1, 1, 9}, {1, 1, 9}}
	if _, ok := Pool(g, Level); ok {
		t.Error("four groups have a pooled interval")
	}
	if _, p := Alike(g[:1]); !math.IsNaN(p) {
		t.Errorf("one group is tested: p is %v", p)
	}
	if _, ok := RankGroup([]float64{1, 2, 3}); ok {
		t.Error("three values have an interval by ranks")
	}
}

// Values that do not scatter at all, such as counts, are no division by zero.
func TestPoolWithoutScatter(t *testing.T) {
	same := make([]Group, 6)
	for i := range same {
		same[i] = Group{0.5, 0, 9}
	}
	p, _ := Pool(same, Level)
	if p.Center != 0.5 || p.Interval != (Interval{0.5, 0.5}) || p.Tau != 0 || p.I2 != 0 {
		t.Errorf("six that are alike: %+v", p)
	}
	if _, v := Alike(same); v != 1 {
		t.Errorf("six that are alike differ with p %v", v)
	}
	same[5].Estimate = 0.8
	p, _ = Pool(same, Level)
	if want(t, "center", p.Center, 0.55); !(p.Interval.Lo < 0.5 && p.Interval.Hi > 0.55 && p.I2 == 1) {
		t.Errorf("one is off: %+v", p)
	}
	if _, v := Alike(same); v != 0 {
		t.Errorf("one is off with p %v", v)
	}
}

// TestRankGroup: what is read out of an interval by ranks is about the variance of its
// center, and that of a variance with the degrees of freedom that are given.
func TestRankGroup(t *testing.T) {
	simulates(t)
	const reps = 4000
	r := rand.New(rand.NewPCG(6, 6))
	for _, n := range []int{8, 20} {
		var sum, squares, centers, nu float64
		d := make([]float64, n)
		for range reps {
			for i := range d {
				d[i] = r.NormFloat64()
			}
			g, _ := RankGroup(d)
			sum, squares, centers, nu = sum+g.Variance/reps, squares+g.Variance*g.Variance/reps, centers+g.Estimate*g.Estimate/reps, g.Nu
		}
		if ratio, have := sum/centers, 2/(squares/(sum*sum)-1); math.Abs(ratio-1) > 0.08 || math.Abs(have/nu-1) > 0.15 {
			t.Errorf("%d values: the variance is %.2f of the true one, with %.1f degrees of freedom for %.1f", n, ratio, have, nu)
		}
	}
}

// TestPoolCovers simulates hosts of few blocks, whose variances are thus hardly
// known and differ, with and without a spread between them.
func TestPoolCovers(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for seconds: left out with -short")
	}
	const reps = 1000
	for _, c := range []struct {
		hosts, blocks int
		tau           float64
	}{{5, 6, 0}, {5, 6, 0.02}, {5, 20, 0.1}, {10, 6, 0}, {10, 10, 0.02}, {10, 20, 0.1}, {20, 6, 0}, {20, 20, 0.1}} {
		r := rand.New(rand.NewPCG(5, uint64(c.hosts*c.blocks)))
		var held, next, spread, alarms int
		predicts := false
		for range reps {
			groups := make([]Group, c.hosts)
			for i := range groups {
				sd, mu := 0.03*math.Exp(0.5*r.NormFloat64()), c.tau*r.NormFloat64()
				d := make([]float64, c.blocks)
				for b := range d {
					d[b] = mu + sd*r.NormFloat64()
				}
				groups[i], _ = RankGroup(d)
			}
			p, _ := Pool(groups, Level)
			one := c.tau * r.NormFloat64()
			held += truth(p.Interval.Lo <= 0 && 0 <= p.Interval.Hi)
			predicts = p.Predicts
			next += truth(p.Predicted.Lo <= one && one <= p.Predicted.Hi)
			spread += truth(p.TauInterval.Lo <= c.tau && c.tau <= p.TauInterval.Hi)
			_, v := Alike(groups)
			alarms += truth(v < 0.05)
		}
		share := func(n int) float64 { return 100 * float64(n) / reps }
		t.Logf("%2d hosts, %2d blocks, spread %.2f: center %.1f, one more %.1f, spread %.1f, differ %.1f", c.hosts, c.blocks, c.tau, share(held), share(next), share(spread), share(alarms))
		if share(held) < 93 || predicts && share(next) < 90 || share(spread) < 92 {
			t.Errorf("%d hosts, %d blocks, spread %v: %.1f, %.1f and %.1f %% hold the truth", c.hosts, c.blocks, c.tau, share(held), share(next), share(spread))
		}
		if c.tau == 0 && share(alarms) > 6.5 {
			t.Errorf("%d hosts of %d blocks that are alike differ in %.1f %%", c.hosts, c.blocks, share(alarms))
		}
	}
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}
