package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// twoRuns simulates the blocks of two runs of one thing: y follows the machine by
// its noise, and so do two controls by theirs.
func twoRuns(r *rand.Rand, n int, machine, noise, native, floor, session float64) (y [2][]float64, x [2][][]float64) {
	for i := range y {
		x[i] = make([][]float64, 2)
		for range n {
			m := machine*r.NormFloat64() + float64(i)*session
			y[i] = append(y[i], m+noise*r.NormFloat64())
			x[i][0] = append(x[i][0], m+native*r.NormFloat64())
			x[i][1] = append(x[i][1], m+floor*r.NormFloat64())
		}
	}
	return y, x
}

func less(y [2][]float64, c Controlled) (out [2][]float64) {
	for i := range y {
		for b, v := range y[i] {
			out[i] = append(out[i], v-c.By[i][b])
		}
	}
	return out
}

// What has nothing to do with y is left out of it, what carries it is taken out,
// and a wild value of a control reaches no y.
func TestControlWeights(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	y, x := twoRuns(r, 40, 0.1, 0.005, 0.01, 0.01, 0)
	if c := Control(y, x); c.Sum < 0.99 || c.Moved != 0 {
		t.Errorf("controls that carry all: %+v", c.Weights)
	}
	x[0][0][7], x[1][1][9] = x[0][0][7]+4, x[1][1][9]-4
	if c := Control(y, x); c.Sum < 0.9 || math.Abs(c.By[0][7]) > 1 || math.Abs(c.By[1][9]) > 1 {
		t.Errorf("one wild value of each: %+v, %v %v", c.Weights, c.By[0][7], c.By[1][9])
	}
	y, x = twoRuns(r, 40, 0, 0.02, 0.5, 0.3, 0)
	if c := Control(y, x); c.Sum > 0.1 {
		t.Errorf("controls that carry nothing: %+v", c.Weights)
	}
	// Nothing to learn a weight from inside the runs, but a machine that was slower:
	// the interval reaches both answers.
	y, x = twoRuns(r, 40, 0, 0.02, 0.02, 0.02, 0.2)
	if c := Control(y, x); c.Moved < 0.19*(1-c.Sum) || c.Moved > 0.21*(1-c.Sum) {
		t.Errorf("a machine that is slower by 0.2: %+v", c)
	}
	// One control that moves by itself says nothing of the machine.
	y, x = twoRuns(r, 40, 0, 0.02, 0.02, 0.02, 0)
	for b := range x[1][0] {
		x[1][0][b] += 0.5
	}
	if c := Control(y, x); math.Abs(c.Moved) > 0.01 {
		t.Errorf("native alone moved: %+v", c)
	}
}

// The interval keeps its coverage, and is hardly wider than without any control.
func TestControlCovers(t *testing.T) {
	simulates(t)
	for _, s := range []struct {
		name                           string
		machine, noise, native, floor  float64
		widest, least, most, ofNatives float64
	}{
		{"all alike", 0.03, 0.03, 0.03, 0.03, 0.95, 0.92, 0.98, 1},
		{"native says nothing", 0.01, 0.03, 0.5, 0.3, 1.05, 0.92, 0.98, 0.2},
		{"quiet baselines", 0.05, 0.01, 0.01, 0.01, 0.4, 0.92, 0.98, 1.1},
	} {
		r := rand.New(rand.NewPCG(2, 2))
		const reps, n = 400, 20
		held, none, native, learnt := 0, 0.0, 0.0, 0.0
		for range reps {
			y, x := twoRuns(r, n, s.machine, s.noise, s.native, s.floor, 0)
			_, in, _ := Shift(y[1], y[0], Level)
			none += in.Width()
			_, in, _ = Shift(weigh(y[1], x[1][0]), weigh(y[0], x[0][0]), Level)
			native += in.Width()
			c := Control(y, x)
			z := less(y, c)
			_, in, _ = Shift(z[1], z[0], Level)
			in.Lo, in.Hi = in.Lo-max(c.Moved, 0), in.Hi-min(c.Moved, 0)
			learnt += in.Width()
			if in.Lo <= 0 && in.Hi >= 0 {
				held++
			}
		}
		rate := float64(held) / reps
		t.Logf("%s: %.1f %% held; %.2f of the width with none, %.2f of that by native", s.name, 100*rate, learnt/none, learnt/native)
		if rate < s.least || rate > s.most || learnt > s.widest*none || learnt > s.ofNatives*native {
			t.Errorf("%s: %.1f %% held, %.2f of the width with none, %.2f of that by native", s.name, 100*rate, learnt/none, learnt/native)
		}
	}
}

func weigh(y, x []float64) []float64 {
	out := make([]float64, len(y))
	for i := range y {
		out[i] = y[i] - x[i]
	}
	return out
}

// Where runs move with their controls the scatter between them is what is left,
// and where they do not it is theirs.
func TestBetween(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	runs := func(carry float64) (y [][]float64, x [][][]float64) {
		for range 10 {
			day := 0.1 * r.NormFloat64()
			var one []float64
			by := make([][]float64, 1)
			for range 10 {
				one = append(one, carry*day+0.01*r.NormFloat64())
				by[0] = append(by[0], day+0.01*r.NormFloat64())
			}
			y, x = append(y, one), append(x, by)
		}
		return y, x
	}
	if w, sd, nu := Between(runs(1)); w[0] < 0.99 || sd > 0.01 || nu != 8 {
		t.Errorf("with the machine: %v %v %v", w, sd, nu)
	}
	if w, sd, nu := Between(runs(0)); w[0] != 0 || sd > 0.01 || nu != 9 {
		t.Errorf("not with the machine: %v %v %v", w, sd, nu)
	}
}
