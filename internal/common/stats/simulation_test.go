package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// simulates leaves what simulates thousands of runs to the tests without the race
// detector, under which it takes many times as long: make unit has both, and what
// starts goroutines is in the others too.
func simulates(t *testing.T) {
	t.Helper()
	if raced {
		t.Skip("simulates thousands of runs: left out under the race detector")
	}
}

// block draws what one block of a run gives: the log medians of k equal
// environments. The machine drifts from block to block, noise is shared
// inside a block, and one value in twenty is an outlier.
func block(r *rand.Rand, k int) []float64 {
	drift, shared := 0.05*r.NormFloat64(), 0.02*r.NormFloat64()
	out := make([]float64, k)
	for i := range out {
		var trials [3]float64
		for t := range trials {
			trials[t] = drift + shared + 0.05*r.NormFloat64()
			if r.Float64() < 0.05 {
				trials[t] += 0.5 * r.ExpFloat64()
			}
		}
		slices.Sort(trials[:])
		out[i] = trials[1]
	}
	return out
}

func run(r *rand.Rand, blocks, k int) [][]float64 {
	out := make([][]float64, blocks)
	for b := range out {
		out[b] = block(r, k)
	}
	return out
}

func differences(run [][]float64, i, j int) []float64 {
	d := make([]float64, len(run))
	for b, v := range run {
		d[b] = v[i] - v[j]
	}
	return d
}

// TestCoverage: the interval of a ratio holds the truth in 93 to 98 % of
// runs, however few the blocks.
func TestCoverage(t *testing.T) {
	simulates(t)
	const reps = 3000
	for _, c := range []struct {
		blocks int
		lo, hi float64
	}{{5, .93, .975}, {6, .93, .98}, {10, .93, .98}, {20, .93, .98}} {
		r := rand.New(rand.NewPCG(1, uint64(c.blocks)))
		hit := 0
		for range reps {
			d := differences(run(r, c.blocks, 2), 0, 1)
			i, ok := HodgesLehmannInterval(d, Level)
			if !ok {
				_, i, _ = TInterval(d, Level)
			}
			if i.Lo <= 0 && 0 <= i.Hi {
				hit++
			}
		}
		if got := float64(hit) / reps; got < c.lo || got > c.hi {
			t.Errorf("%d blocks: the interval covers %.1f %%", c.blocks, 100*got)
		} else {
			t.Logf("%d blocks: %.1f %%", c.blocks, 100*got)
		}
	}
}

// TestOrderMatters: without interleaving, no formula covers. If this test
// ever finds full coverage, the simulation above proves nothing.
func TestOrderMatters(t *testing.T) {
	const reps = 2000
	r := rand.New(rand.NewPCG(2, 2))
	hit := 0
	for range reps {
		// The first half of the session is all of A, the second all of B; the
		// machine drifts slowly across both.
		level := 0.0
		d := make([]float64, 20)
		for b := range d {
			level += 0.01 * r.NormFloat64()
			d[b] = level + 0.03*r.NormFloat64()
		}
		for b := range d {
			level += 0.01 * r.NormFloat64()
			d[b] -= level + 0.03*r.NormFloat64()
		}
		if i, _ := HodgesLehmannInterval(d, Level); i.Lo <= 0 && 0 <= i.Hi {
			hit++
		}
	}
	if got := float64(hit) / reps; got > 0.8 {
		t.Errorf("covers %.1f %% without interleaving: the simulation is too kind", 100*got)
	}
}

// TestFalseAlarms: over all pairs of a ranking of equal environments, Holm
// keeps the chance of any alarm at 5 %; uncorrected it is far more.
func TestFalseAlarms(t *testing.T) {
	simulates(t)
	const reps = 600
	student := func(d []float64) float64 { return StudentP(TMoments(d)) }
	for _, c := range []struct {
		blocks, envs int
		test         func([]float64) float64
		name         string
	}{
		{20, 6, SignedRank, "signed rank"},
		{10, 13, student, "t"},
		{20, 13, student, "t"},
		{5, 6, student, "t"},
	} {
		r := rand.New(rand.NewPCG(3, uint64(c.blocks*c.envs)))
		raw, corrected := 0, 0
		for range reps {
			x := run(r, c.blocks, c.envs)
			var p []float64
			for i := range c.envs {
				for j := i + 1; j < c.envs; j++ {
					p = append(p, c.test(differences(x, i, j)))
				}
			}
			if slices.Min(p) < 0.05 {
				raw++
			}
			if slices.Min(Holm(p)) < 0.05 {
				corrected++
			}
		}
		t.Logf("%s, %d blocks, %d environments: %.1f %% uncorrected, %.1f %% with Holm",
			c.name, c.blocks, c.envs, 100*float64(raw)/reps, 100*float64(corrected)/reps)
		// 600 repetitions of a true 5 % give at most 7 % in 99 of 100 cases.
		if float64(corrected)/reps > 0.07 {
			t.Errorf("%s, %d blocks, %d environments: %d of %d runs raise a false alarm", c.name, c.blocks, c.envs, corrected, reps)
		}
		if float64(raw)/reps < 0.2 {
			t.Errorf("uncorrected there are only %d alarms: the family is too small to test anything", raw)
		}
	}
}

// TestMedianCoverage: the same for the interval of a median.
func TestMedianCoverage(t *testing.T) {
	simulates(t)
	const reps = 4000
	for _, n := range []int{6, 10, 20, 50} {
		r := rand.New(rand.NewPCG(4, uint64(n)))
		hit := 0
		x := make([]float64, n)
		for range reps {
			for i := range x {
				x[i] = math.Exp(0.3 * r.NormFloat64())
			}
			slices.Sort(x)
			if i, ok := MedianInterval(x, Level); ok && i.Lo <= 1 && 1 <= i.Hi {
				hit++
			}
		}
		if got := float64(hit) / reps; got < 0.935 || got > 0.98 {
			t.Errorf("n = %d: covers %.1f %%", n, 100*got)
		}
	}
}

// TestHumps: one hump passes for one, two clear ones are seen.
func TestHumps(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	const reps = 500
	alarms, found := 0, 0
	for range reps {
		one, two := make([]float64, 60), make([]float64, 60)
		for i := range one {
			one[i] = r.Float64()
			two[i] = r.NormFloat64() + 6*float64(i%2)
		}
		if TwoHumps(Sorted(one)) {
			alarms++
		}
		if TwoHumps(Sorted(two)) {
			found++
		}
	}
	if alarms > 15 || found < reps*9/10 {
		t.Errorf("of %d: %d false alarms, %d found", reps, alarms, found)
	}
}

func TestLetters(t *testing.T) {
	for _, c := range []struct {
		name string
		diff string // pairs of digits that differ
		n    int
		want string
	}{
		{"none differ", "", 3, "012"},
		{"all differ", "01 02 12", 3, "0 1 2"},
		{"a chain", "02", 3, "01 12"},
		{"two groups", "02 03 12 13", 4, "01 23"},
		{"overlapping", "02 03 13", 4, "01 12 23"},
		{"not by rank", "01 12", 3, "02 1"},
		{"none", "", 0, ""},
	} {
		differs := func(i, j int) bool {
			for k := 0; k+1 < len(c.diff); k += 3 {
				if int(c.diff[k]-'0') == i && int(c.diff[k+1]-'0') == j {
					return true
				}
			}
			return false
		}
		got := ""
		for k, g := range Letters(c.n, differs) {
			if k > 0 {
				got += " "
			}
			for _, i := range g {
				got += string(rune('0' + i))
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	// Pairs (0,1), (2,3)…: exponentially many groups, but an answer at once.
	if got := Letters(60, func(i, j int) bool { return i/2 == j/2 }); len(got) == 0 || len(got) > maxGroups {
		t.Errorf("contrived: %d groups", len(got))
	}
}

// BenchmarkHodgesLehmann is one pair of a ranking.
func BenchmarkHodgesLehmann(b *testing.B) {
	r := rand.New(rand.NewPCG(6, 6))
	d := differences(run(r, 20, 2), 0, 1)
	for b.Loop() {
		HodgesLehmann(d)
		HodgesLehmannInterval(d, Level)
		SignedRank(d)
	}
}

func HodgesLehmannInterval(d []float64, level float64) (Interval, bool) {
	_, i, ok := PseudoMedian(d, level)
	return i, ok
}
