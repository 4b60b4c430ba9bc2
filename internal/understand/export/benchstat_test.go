package export

import (
	"bytes"
	"math"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/evaluate"
)

// day is one run of a small study, with one trial a block.
func day(seed uint64, blocks int, quantum time.Duration, slower float64) recordtest.Spec {
	s := recordtest.Typical()
	s.Seed, s.Blocks, s.PerBlock, s.StealEvery = seed, blocks, 1, 0
	s.Envs = append([]recordtest.Env(nil), s.Envs[1], s.Envs[4], s.Envs[5], s.Envs[9])
	s.Envs[2].StartUp = time.Duration(float64(s.Envs[2].StartUp) * slower)
	for i := range s.Envs[1:] {
		s.Envs[1+i].Quantum = quantum
	}
	return s
}

// startUps reads the export as benchstat does: the values of each environment.
func startUps(t *testing.T, r *record.Reader) map[string][]float64 {
	t.Helper()
	out := map[string][]float64{}
	rd := benchfmt.NewReader(bytes.NewReader(written(t, r, "benchfmt", Options{Metric: "startup"})), "run")
	for rd.Scan() {
		if res, ok := rd.Result().(*benchfmt.Result); ok {
			for _, v := range res.Values {
				out[res.GetConfig("environment")] = append(out[res.GetConfig("environment")], v.OrigValue)
			}
		}
	}
	if rd.Err() != nil || len(out) == 0 {
		t.Fatal(len(out), rd.Err())
	}
	return out
}

func opened(t *testing.T, s recordtest.Spec) (*record.Reader, *analyze.Result) {
	t.Helper()
	r := s.Open(t)
	res, err := evaluate.Run(r, evaluate.Options{})
	require.NoError(t, err)
	return r, res
}

// TestCompareAgreesWithBenchstat: of absolute values, which benchstat compares,
// compare has the same medians and the same p. Of ratios to native it has the p
// that benchstat's test gives for the ratios.
func TestCompareAgreesWithBenchstat(t *testing.T) {
	only := []compare.Filter{{Key: "metric", Values: []string{"startup"}}}
	for _, c := range []struct {
		name    string
		blocks  int
		quantum time.Duration
		within  float64 // how far p may be off
	}{
		{"exact", 20, 0, 1e-9},
		{"normal", 40, 0, 0.005},                   // benchstat counts up to 50 values, we up to 30
		{"ties", 20, 500 * time.Microsecond, 0.02}, // benchstat counts up to 25 values with ties, we have the normal distribution
	} {
		r1, base := opened(t, day(1, c.blocks, c.quantum, 1))
		r2, next := opened(t, day(2, c.blocks, c.quantum, 1.02))
		old, now := startUps(t, r1), startUps(t, r2)
		absolute, err := compare.Between(base, next, compare.Options{Against: "none", Filter: only})
		require.NoError(t, err)
		ratios, err := compare.Between(base, next, compare.Options{Filter: only})
		require.NoError(t, err)
		if absolute.Test != "Mann-Whitney" || ratios.Test != "Mann-Whitney" {
			t.Fatalf("%s: the tests are %s and %s", c.name, absolute.Test, ratios.Test)
		}
		for i := range absolute.Cells {
			a, q := &absolute.Cells[i], &ratios.Cells[i]
			s1, s2 := sampleOf(old[a.Env]), sampleOf(now[a.Env])
			m1, m2 := benchmath.AssumeNothing.Summary(s1, 0.95).Center, benchmath.AssumeNothing.Summary(s2, 0.95).Center
			if math.Abs(m1/a.Base.Value-1) > 1e-12 || math.Abs(m2/a.New.Value-1) > 1e-12 {
				t.Errorf("%s, %s: medians %v and %v, benchstat's %v and %v", c.name, a.Env, a.Base.Value, a.New.Value, m1, m2)
			}
			if p := benchmath.AssumeNothing.Compare(s1, s2).P; math.Abs(p-*a.P) > c.within {
				t.Errorf("%s, %s: p is %v, benchstat's %v", c.name, a.Env, *a.P, p)
			}
			if q.Against != "native" {
				continue // native itself is compared with what else there is
			}
			p := benchmath.AssumeNothing.Compare(sampleOf(over(old[a.Env], old["native"])), sampleOf(over(now[a.Env], now["native"]))).P
			if math.Abs(p-*q.P) > c.within {
				t.Errorf("%s, %s over native: p is %v, benchstat's %v", c.name, a.Env, *q.P, p)
			}
		}
	}
}

func sampleOf(x []float64) *benchmath.Sample {
	return benchmath.NewSample(append([]float64(nil), x...), &benchmath.DefaultThresholds)
}

// over divides block by block: with one trial a block they stand in one order.
func over(x, y []float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = x[i] / y[i]
	}
	return out
}
