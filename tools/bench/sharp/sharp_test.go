package sharp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/understand/analyze"
)

// made is a stretch of known truth: starts of 10 ms that scatter by 3 % around what
// the block is worth, and hyperfine's by as much as it is told. A trial takes 12 ms.
func made(theirs float64) *Stretch {
	r := rand.New(rand.NewPCG(1, 2))
	s := &Stretch{Engine: "crun", Start: 1e7, Changes: []float64{0, 0, 0.02, 0.2}, Took: time.Minute}
	for range 2 {
		run := &Run{}
		for range 300 {
			block := 0.05 * r.NormFloat64()
			b := Block{}
			for i := range len(s.Changes) + baselines {
				v := 1e7
				if i < len(s.Changes) {
					v *= 1 + s.Changes[i]
				}
				b.Start, b.Wall = append(b.Start, v*math.Exp(block+0.03*r.NormFloat64())), append(b.Wall, 1.2e7)
			}
			run.Blocks = append(run.Blocks, b)
		}
		for range 30 {
			d := Round{Wall: 10 * 1.2e7 * float64(len(s.Changes))}
			for _, c := range s.Changes {
				var times []float64
				for range 10 {
					times = append(times, 1e7*(1+c)*math.Exp(theirs*r.NormFloat64()))
				}
				d.Times = append(d.Times, times)
			}
			run.Rounds = append(run.Rounds, d)
		}
		s.Runs = append(s.Runs, run)
	}
	return s
}

// TestJudges: of what differs by 20 % all gates fail, of what is the same hardly any;
// and whoever scatters twice as much needs four times as long.
func TestJudges(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for seconds: left out with -short")
	}
	s := made(0.03 * math.Sqrt2 * 2)
	a, err := s.Answer([]time.Duration{2 * time.Second}, 20)
	require.NoError(t, err)
	// Three changes, of the time that was asked for and of the one that fits, inside one
	// run and between two, drawn and as they came.
	if len(a.Rows) != 3*2*2*2 {
		t.Fatalf("%d rows", len(a.Rows))
	}
	for _, r := range a.Rows {
		for i, ours := range r.Ours.Beyond {
			switch {
			case r.Ours.Tries == 0 || r.Theirs.Tries == 0 || r.Ours.Apart == 0 && (r.Between || !r.Drawn):
				t.Errorf("%+v: nothing was tried", r)
			case r.Change == 0.2 && (ours.Hit < ours.N || r.Theirs.Beyond[i].Hit < r.Theirs.Beyond[i].N || r.Ours.Told.Hit < r.Ours.Told.N):
				t.Errorf("20 %% is not found: %+v", r)
			case r.Change == 0 && (10*ours.Hit > ours.N || 10*r.Theirs.Beyond[i].Hit > r.Theirs.Tries):
				t.Errorf("what is the same is found: %+v", r)
			}
		}
	}
	n := a.Needs[len(a.Needs)-1]
	if n.Change != 0.2 || math.Abs(n.Ours-0.2) > 0.01 || math.Abs(n.Theirs-0.2) > 0.02 || n.Lo > 0.25 || n.Hi < 0.25 || n.Ratio < 0.08 || n.Ratio > 0.8 {
		t.Errorf("%+v", n)
	}
	var text bytes.Buffer
	if err := writeText(&text, []*Answer{a}); err != nil || !strings.Contains(text.String(), "between two runs, drawn") || !strings.Contains(text.String(), "inside one run, as it came") {
		t.Errorf("%v\n%s", err, text.String())
	}
}

// TestNeeds: a program that all others are held against and that is off by itself makes
// all changes look larger, and how long it takes to find one is the same. Changes that all
// came to twice as much are found in a quarter of the time.
func TestNeeds(t *testing.T) {
	with := func(change func(s *Stretch, start []float64)) []Need {
		s := made(0.03)
		for _, r := range s.Runs {
			for b := range r.Blocks {
				change(s, r.Blocks[b].Start)
			}
		}
		n := s.needs()
		if len(n) != 2 {
			t.Fatalf("%+v", n)
		}
		return n
	}
	is := with(func(*Stretch, []float64) {})
	off := with(func(_ *Stretch, start []float64) { start[0] *= 0.99 })
	twice := with(func(s *Stretch, start []float64) {
		for k, c := range s.Changes {
			start[k] *= 1 + c
		}
	})
	for i := range is {
		if off[i].Ours < is[i].Ours+0.009 || math.Abs(off[i].OurTime/is[i].OurTime-1) > 1e-6 || math.Abs(off[i].Gate/is[i].Gate-1) > 1e-6 || math.Abs(off[i].Ratio/is[i].Ratio-1) > 1e-6 {
			t.Errorf("%+v, and with 1 %% off %+v", is[i], off[i])
		}
		if x := twice[i].OurTime / is[i].OurTime; math.Abs(x-0.25) > 0.02 || twice[i].TheirTime != is[i].TheirTime {
			t.Errorf("%+v, and twice as much %+v", is[i], twice[i])
		}
	}
}

// TestWindows: windows overlap by three quarters, and none is shorter than asked.
func TestWindows(t *testing.T) {
	cost := make([]float64, 100)
	for i := range cost {
		cost[i] = 1e9
	}
	all, apart := windows(cost, 20*time.Second)
	if len(all) != 17 || apart != 5 || all[0] != (span{0, 20}) || all[1] != (span{5, 25}) || all[16] != (span{80, 100}) {
		t.Errorf("%d, %d apart: %v", len(all), apart, all)
	}
	if all, _ := windows(cost, 101*time.Second); len(all) != 0 {
		t.Errorf("%v", all)
	}
}

// TestEnds: who has enough of a long computation need not wait for its end.
func TestEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	forever := make(chan struct{})
	defer close(forever)
	if err := unlessEnded(ctx, func() error { <-forever; return nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := unlessEnded(t.Context(), func() error { return io.EOF }); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// TestOptions: what can't be meant is refused.
func TestOptions(t *testing.T) {
	for _, args := range [][]string{{"-tuned", "perhaps"}, {"-changes", "0"}, {"-after", "soon"}, {"-minutes", "0"}, {"crun"}, {"-none"}} {
		if _, err := parse(args, nil, io.Discard); err == nil {
			t.Errorf("%v passed", args)
		}
	}
	o, err := parse([]string{"-engines", "runc,docker", "-changes", "2"}, nil, io.Discard)
	if err != nil || len(o.engines) != 2 || len(o.changes) != 3 || o.changes[2] != 0.02 {
		t.Errorf("%+v, %v", o, err)
	}
}

// BenchmarkLongRun puts a run of ten thousand blocks to gates by another one, with four
// earlier ones and without.
func BenchmarkLongRun(b *testing.B) {
	const blocks = 10_000
	s := machines()[0].stretch(rand.New(rand.NewPCG(7, 7)), 2, blocks, 0, 0, 0.01)
	past := machines()[0].stretch(rand.New(rand.NewPCG(8, 8)), leastEarlier, 400, 0, 0, 0.01)
	n := len(s.Changes)
	base, err := baseOf(s.Runs[0].Blocks, n)
	require.NoError(b, err)
	earlier, err := past.wholeRuns()
	require.NoError(b, err)
	for name, known := range map[string][]*analyze.Result{"weights are learnt": nil, "earlier runs": earlier} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := newRun(s.Runs[1].Blocks, 2, n).against(base, known); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
