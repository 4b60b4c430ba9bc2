package sample_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/understand/analyze/sample"
)

// drawn is a sample of two runs, of which the second is slower, each block with a
// standard deviation of 0.1, on a machine that moved, which the thing need not have
// followed by more than half or less than one and a half.
func drawn(r *rand.Rand, n int, by, moved float64) sample.Sample {
	half := math.Abs(moved) / 2
	s := sample.Sample{Machine: stats.Interval{Lo: -half, Hi: half}, Apart: max(0, math.Abs(moved)-0.1)}
	for range n {
		s.X, s.Y = append(s.X, by+0.1*r.NormFloat64()), append(s.Y, 0.1*r.NormFloat64())
	}
	return s
}

// TestHoldingAgrees: the interval of a level and its p say the same at the ends, neither
// is wider than one that leaves half to each side, and with a set that is no wider than a
// point they are that one.
func TestHoldingAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	by := sample.Test{Ranks: true, From: sample.MinRank}
	for _, moved := range []float64{0, 0.05, 0.12, 0.2, 0.5, -0.5} {
		s := drawn(r, 40, 0.3, moved)
		for _, level := range []float64{0.8, 0.95, 0.99} {
			_, in, _, ok := s.Holding(level)
			_, wide, _, _ := s.Estimate(level)
			if !ok || in.Lo < wide.Lo || in.Hi > wide.Hi || (s.Apart == 0) != (in == wide) {
				t.Errorf("moved by %v, level %v: %+v in %+v, %v", moved, level, in, wide, ok)
			}
			for _, end := range []float64{in.Lo, in.Hi} {
				if p := s.HoldingP(end, by); math.Abs(p-(1-level)) > 0.1*(1-level)+0.001 {
					t.Errorf("moved by %v, level %v: p %.4f at the end %.3f of [%.3f, %.3f]", moved, level, p, end, in.Lo, in.Hi)
				}
			}
		}
	}
	// With nothing but ranks' steps between: far apart, each end is one-sided.
	s := drawn(r, 40, 0.3, 2)
	_, in, _, _ := s.Holding(0.95)
	if _, one, _, _ := s.Estimate(0.9); math.Abs(in.Lo-one.Lo) > 1e-6 || math.Abs(in.Hi-one.Hi) > 1e-6 {
		t.Errorf("%+v in place of %+v", in, one)
	}
	s.Runs = &sample.Runs{SD: 0.1, Nu: 5}
	_, in, _, _ = s.Holding(0.95)
	if _, wide, _, _ := s.Estimate(0.95); in != wide {
		t.Errorf("with the scatter between runs: %+v in place of %+v", in, wide)
	}
}

// TestHoldingCovers: wherever in the set the truth is, at an end of it most of all, 93 of
// 100 intervals hold it or more, however far the machine moved. What the others moved is
// estimated, too, from blocks that scatter half as much as the thing's own.
func TestHoldingCovers(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates thousands of comparisons: left out with -short")
	}
	r := rand.New(rand.NewPCG(3, 4))
	const all, want = 1500, 0.93
	one, worst := 0, 1.0
	for _, n := range []int{12, 20} {
		for _, moved := range []float64{0, 0.03, 0.06, 0.1, 0.15, 0.25, 0.5, 1} {
			for _, follows := range []float64{0.5, 0.75, 1, 1.5} {
				holds := 0
				for range all {
					var s sample.Sample
					var base, next []float64 // of the others
					for b := range n {
						base, next = append(base, 0.05*r.NormFloat64()), append(next, moved+0.05*r.NormFloat64())
						s.Y = append(s.Y, 0.1*r.NormFloat64()-base[b])
						s.X = append(s.X, follows*moved+0.1*r.NormFloat64()-next[b])
					}
					seen, in, _ := stats.Shift(next, base, stats.Level)
					half := math.Abs(seen) / 2
					s.Machine, s.Apart = stats.Interval{Lo: -half, Hi: half}, max(in.Lo, -in.Hi, 0)
					if _, in, _, _ := s.Holding(stats.Level); in.Lo <= 0 && in.Hi >= 0 {
						holds++
					}
				}
				share := float64(holds) / all
				if worst = min(worst, share); share < 0.945 {
					t.Logf("%d blocks, moved by %v, of which it follows %v: %.3f hold the truth", n, moved, follows, share)
				}
				if one += holds; share < want-3.3*math.Sqrt(want*(1-want)/all) {
					t.Errorf("%d blocks, moved by %v, of which it follows %v: only %.3f hold the truth", n, moved, follows, share)
				}
			}
		}
	}
	t.Logf("%.3f hold the truth, %.3f in the worst row", float64(one)/all/64, worst)
}
