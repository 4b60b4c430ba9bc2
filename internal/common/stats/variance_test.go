package stats

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"plimsoll/internal/common/require"
)

// TestVarianceReference: the same as statsmodels (testdata/variance.py).
func TestVarianceReference(t *testing.T) {
	data, err := os.ReadFile("testdata/variance.json")
	require.NoError(t, err)
	var cases []struct {
		Name       string
		Values     [][]float64
		Factors    [][]int
		MSE, Total float64
		DFE        int
		Terms      []struct {
			SS, Omega, Partial float64
			DF                 int
		}
	}
	require.NoError(t, json.Unmarshal(data, &cases))
	for _, c := range cases {
		d, ok := Variance(c.Values, c.Factors, 0, 1)
		if !ok || len(d.Terms) != len(c.Terms) || d.DFE != c.DFE {
			t.Fatalf("%s: %v, %d terms, %d degrees of freedom", c.Name, ok, len(d.Terms), d.DFE)
		}
		want(t, c.Name+" MSE", d.MSE, c.MSE)
		want(t, c.Name+" total", d.Total, c.Total)
		sum := d.Rest.Value + d.Noise.Value
		for i, w := range c.Terms {
			g := d.Terms[i]
			if g.DF != w.DF {
				t.Errorf("%s term %d: %d degrees of freedom, want %d", c.Name, i, g.DF, w.DF)
			}
			want(t, c.Name+" SS", g.SS, w.SS)
			want(t, c.Name+" omega", g.Share.Value, w.Omega)
			want(t, c.Name+" partial", g.Partial, w.Partial)
			sum += g.Share.Value
			if balanced := c.Name != "unbalanced"; balanced != near(g.SS, g.FirstSS) && g.B < 0 {
				t.Errorf("%s term %d: %v first, %v last", c.Name, i, g.FirstSS, g.SS)
			}
			if g.Share.OK {
				t.Errorf("%s: an interval without resampling", c.Name)
			}
		}
		if c.Name != "unbalanced" && math.Abs(sum-1) > 0.02 {
			t.Errorf("%s: the shares are %v together", c.Name, sum)
		}
	}
}

// matrixOf draws blocks of a full factorial of 2 × 3 × 2 cells with given
// effects, and gives the true shares of its terms, of the rest and of noise.
func matrixOf(rng *rand.Rand, blocks int, noise float64, heavy bool) (values [][]float64, factors [][]int, truth []float64) {
	effect := [][]float64{{0, 0.15}, {0, 0.2, 0.6}, {0, 0.1}}
	both := func(a, b int) float64 { return []float64{0, 0, 0, 0, 0.1, 0.2}[3*a+b] }
	factors = make([][]int, 3)
	var cells []float64
	for i := range 12 {
		l := []int{i / 6, i / 2 % 3, i % 2}
		sum := both(l[0], l[1])
		for f, k := range l {
			factors[f] = append(factors[f], k)
			sum += effect[f][k]
		}
		cells = append(cells, sum)
	}
	for range blocks {
		shift := 0.05 * rng.NormFloat64()
		row := make([]float64, len(cells))
		for c, v := range cells {
			e := rng.NormFloat64()
			if heavy {
				e = (rng.ExpFloat64() - 1)
			}
			row[c] = v + shift + noise*e
		}
		values = append(values, row)
	}
	m := newModel(factors, len(cells))
	y := centered([][]float64{cells})[0]
	total := dot(y, y) + noise*noise*float64(len(cells)-1)
	used := 0.0
	for i := range m.terms {
		truth = append(truth, m.last[i].energy(y)/total)
		used += truth[i]
	}
	return values, factors, append(truth, (dot(y, y)/total)-used, noise*noise*float64(len(cells)-1)/total)
}

// TestVarianceCovers: intervals hold the true shares, of what is large, what
// is small and of the noise, from 6 blocks to 40.
func TestVarianceCovers(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for seconds: left out with -short")
	}
	for _, c := range []struct {
		blocks int
		noise  float64
		heavy  bool
	}{{6, 0.05, false}, {10, 0.05, false}, {10, 0.2, false}, {10, 0.2, true}, {20, 0.1, false}, {40, 0.2, true}} {
		rng := rand.New(rand.NewPCG(uint64(c.blocks), math.Float64bits(c.noise)))
		const runs = 300
		hits := map[string]int{}
		for r := range runs {
			values, factors, truth := matrixOf(rng, c.blocks, c.noise, c.heavy)
			d, _ := Variance(values, factors, 400, uint64(r))
			hit := func(name string, s Share, truth float64) {
				if s.OK && s.Interval.Lo <= truth && truth <= s.Interval.Hi {
					hits[name]++
				}
			}
			hit("large", d.Terms[1].Share, truth[1])
			hit("small", d.Terms[2].Share, truth[2])
			hit("interaction", d.Terms[3].Share, truth[3])
			hit("all pairs", d.Pairs, truth[3]+truth[4]+truth[5])
			hit("noise", d.Noise, truth[len(truth)-1])
		}
		for _, name := range []string{"large", "small", "interaction", "all pairs", "noise"} {
			n := hits[name]
			t.Logf("%+v %s: %.1f %%", c, name, 100*float64(n)/runs)
			if float64(n)/runs < 0.92 {
				t.Errorf("%+v: the interval of what is %s covers %.1f %%", c, name, 100*float64(n)/runs)
			}
		}
	}
}

// Confounded factors have no share of their own, but one together.
func TestVarianceConfounded(t *testing.T) {
	values, factors, _ := matrixOf(rand.New(rand.NewPCG(1, 2)), 8, 0.01, false)
	factors = append(factors, factors[1]) // the same once more
	d, ok := Variance(values, factors, 50, 3)
	if !ok || d.Terms[1].DF != 0 || d.Terms[3].DF != 0 || d.Terms[1].FirstDF != 2 || d.Terms[0].DF != 1 {
		t.Fatalf("%+v", d.Terms)
	}
	if d.Terms[1].Share.Value != 0 || d.Terms[1].Partial != 0 {
		t.Errorf("a share was invented: %+v", d.Terms[1])
	}
	j, ok := Joint(values, factors, []int{1, 3}, 50, 3)
	if !ok || !j.OK || math.Abs(j.Value-d.Terms[1].First) > 1e-9 || !(j.Interval.Lo < j.Value && j.Value < j.Interval.Hi) {
		t.Errorf("together %+v, want %v", j, d.Terms[1].First)
	}
	again, _ := Joint(values, factors, []int{1, 3}, 50, 3)
	if again != j {
		t.Error("the same seed, another interval")
	}
}

func TestVarianceOfNothing(t *testing.T) {
	for _, v := range [][][]float64{nil, {{1, 2}}, {{1}, {2}}, {{1, 1}, {1, 1}}} {
		var f [][]int
		if len(v) > 0 {
			f = [][]int{make([]int, len(v[0]))}
		}
		if _, ok := Variance(v, f, 10, 1); ok {
			t.Errorf("shares of %v", v)
		}
	}
	// A factor of one level, and a perfect fit.
	d, ok := Variance([][]float64{{1, 2}, {1, 2}}, [][]int{{0, 0}, {0, 1}}, 10, 1)
	if !ok || d.Terms[0].DF != 0 || !near(d.Terms[1].Share.Value, 1) || d.Noise.Value != 0 {
		t.Errorf("%+v", d)
	}
}

// FuzzVariance: whatever plan and values, shares are numbers from 0 to 1 inside
// their intervals, and terms have no more directions than there are cells.
func FuzzVariance(f *testing.F) {
	f.Add(uint8(6), uint8(4), uint8(2), []byte{0, 1, 0, 1, 0, 0, 1, 1, 9, 8, 7, 6, 5})
	f.Add(uint8(2), uint8(3), uint8(3), []byte{0, 0, 1, 0, 1, 0, 2, 2, 2})
	f.Add(uint8(7), uint8(6), uint8(4), []byte("what cells there are, and what is in them"))
	// A factor of one level in six cells: 6 × 1/6 is not 1 in floating point.
	f.Add(uint8(89), uint8(32), uint8(154), []byte("00100000011000000"))
	f.Fuzz(func(t *testing.T, blocks, cells, n uint8, data []byte) {
		at := 0
		next := func() int {
			if at++; at > len(data) {
				return at % 3
			}
			return int(data[at-1])
		}
		factors := make([][]int, n%5)
		for i := range factors {
			for range cells % 13 {
				factors[i] = append(factors[i], next()%4)
			}
		}
		values := make([][]float64, blocks%9)
		for b := range values {
			for range cells % 13 {
				values[b] = append(values[b], float64(next()-100)/7)
			}
		}
		d, ok := Variance(values, factors, 5, 1)
		if !ok {
			return
		}
		df := 0
		for _, x := range d.Terms {
			df += x.DF
			if x.DF > x.FirstDF || !(x.Partial >= 0 && x.Partial <= 1) || !(x.First >= 0 && x.First <= 1) {
				t.Errorf("%+v", x)
			}
		}
		if df > int(cells%13)-1 {
			t.Errorf("%d directions of %d cells", df, cells%13)
		}
		for _, s := range d.shares() {
			if !(s.Value >= 0 && s.Value <= 1) || s.OK && !(s.Interval.Lo <= s.Value && s.Value <= s.Interval.Hi) {
				t.Errorf("%+v", *s)
			}
		}
		if len(factors) > 1 {
			if s, ok := Joint(values, factors, []int{0, 1}, 5, 1); ok && !(s.Value >= 0 && s.Value <= 1) {
				t.Errorf("%+v", s)
			}
		}
	})
}
