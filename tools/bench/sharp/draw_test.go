package sharp

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"plimsoll/internal/common/require"
	"plimsoll/internal/common/stats"
)

// TestDraws: a window is as long as was asked, and of stretches of the run.
func TestDraws(t *testing.T) {
	all, cost := make([]int, 100), make([]float64, 100)
	for i := range all {
		all[i], cost[i] = i, 1e9
	}
	w := drawn(rand.New(rand.NewPCG(1, 1)), all, cost, 250*time.Second)
	breaks := 0
	for i := 1; i < len(w); i++ {
		if w[i] != w[i-1]+1 {
			breaks++
		}
	}
	if len(w) != 250 || breaks > 24 || breaks < 20 {
		t.Errorf("%d blocks, %d breaks: %v", len(w), breaks, w)
	}
	if w := drawn(rand.New(rand.NewPCG(1, 1)), all, make([]float64, 100), time.Second); w != nil {
		t.Errorf("of what takes no time %d blocks were drawn", len(w))
	}
}

// TestExactly: the change is as large as was meant, whatever was measured, by pairs and
// by hyperfine's values; what failed stays so, and nothing of the run itself changes.
func TestExactly(t *testing.T) {
	s := machines()[0].stretch(rand.New(rand.NewPCG(1, 1)), 1, 100, 0, 0, 0.03)
	run := s.Runs[0]
	run.Blocks[7].Start[2], run.Blocks[8].Start[0] = 0, 0
	before := slices.Clone(run.Blocks[3].Start)
	blocks := exactly(run.Blocks, 0, 2, 0.02)
	if is := stats.HodgesLehmann(pairLogs(blocks, 0, 2)); math.Abs(is-math.Log1p(0.02)) > 1e-9 {
		t.Errorf("blocks: %v", math.Expm1(is))
	}
	if blocks[7].Start[2] != 0 || !slices.Equal(before, run.Blocks[3].Start) {
		t.Error("a failed trial has a time, or the run was changed")
	}
	off := widened(100) * math.Sqrt(stat.Variance(pairLogs(run.Blocks, 0, 2), nil))
	if is := math.Sqrt(stat.Variance(pairLogs(blocks, 0, 2), nil)); math.Abs(is/off-1) > 1e-9 {
		t.Errorf("scatter %v, not %v", is, off)
	}
	rounds := exactRounds(run.Rounds, 0, 2, 0.02)
	// Rounds are moved as wholes, so that the shift of all their values is near it.
	if is := math.Expm1(logShift(pooled(rounds, 0), pooled(rounds, 2))); math.Abs(is-0.02) > 0.002 {
		t.Errorf("rounds: %v", is)
	}
}

// TestShareOfDraws: the interval holds the share and is the narrower the more is known of
// the scatter; of what is found always, or never, it is still one.
func TestShareOfDraws(t *testing.T) {
	wide, narrow := shareDrawn(60, 100, 2, 10, false), shareDrawn(60, 100, 2, 1000, false)
	if wide.Lo > 0.5 || wide.Hi < 0.7 || narrow.Lo < wide.Lo || narrow.Hi > wide.Hi || narrow.Lo > 0.6 || narrow.Hi < 0.6 {
		t.Errorf("%+v, %+v", wide, narrow)
	}
	for _, hit := range []int{0, 100} {
		for _, both := range []bool{false, true} {
			s := shareDrawn(hit, 100, 2, 20, both)
			if is := float64(hit) / 100; !(s.Lo <= is && is <= s.Hi && s.Hi-s.Lo > 0.01) {
				t.Errorf("%d, %t: %+v", hit, both, s)
			}
		}
	}
	if s := shareDrawn(0, 0, 2, 20, false); s != (Share{}) {
		t.Errorf("of nothing: %+v", s)
	}
}

// TestDrawnSharesAreRight: drawn from runs of which none is as long as a window, the share
// that finds a change is that of new runs, also where neighbouring blocks are alike.
func TestDrawnSharesAreRight(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for seconds: left out with -short")
	}
	for _, m := range []machine{machines()[0], machines()[2]} {
		all, err := checkOf(m, 0.02, 8, 200, 30, false)
		require.NoError(t, err)
		for _, c := range all {
			if math.Abs(c.truth-c.drawn) > 0.12 || 10*c.held < 7*c.of {
				t.Errorf("%+v", c)
			}
		}
		if len(all) != 6 {
			t.Errorf("%s: %+v", m.name, all)
		}
	}
}

// TestLeveled: runs of a machine that never moves are hardly apart afterwards, those of
// one that does as far as before; nothing of the stretch itself changes.
func TestLeveled(t *testing.T) {
	apart := func(s *Stretch) float64 {
		var centers []float64
		for _, r := range s.Runs {
			var logs []float64
			for _, b := range r.Blocks {
				logs = append(logs, math.Log(b.Start[0]))
			}
			centers = append(centers, stats.HodgesLehmann(logs))
		}
		return math.Sqrt(stat.Variance(centers, nil))
	}
	before, after := 0.0, 0.0
	for n := range 20 {
		s := machines()[0].stretch(rand.New(rand.NewPCG(4, uint64(n))), 6, 50, 0, 0, 0.02)
		was := apart(s)
		before, after = before+was, after+apart(s.leveled())
		if apart(s) != was {
			t.Fatal("the stretch was changed")
		}
	}
	if after > before/2 {
		t.Errorf("runs that are alike lie %.4f apart, and %.4f before", after/20, before/20)
	}
	s := machines()[5].stretch(rand.New(rand.NewPCG(5, 5)), 6, 100, 0, 0, 0.02)
	if is, was := apart(s.leveled()), apart(s); is < 0.9*was || is > was {
		t.Errorf("runs that differ lie %.4f apart, and %.4f before", is, was)
	}
}
