package bisection

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"plimsoll/internal/common/stats"
)

// machine measures in simulated times: noise is of a trial.
type machine struct {
	r     *rand.Rand
	noise float64
}

// value is a trial in a block: one in twenty is far out.
func (m machine) value(block, log float64) float64 {
	v := block + log + m.noise*m.r.NormFloat64()
	if m.r.Float64() < 0.05 {
		v += 0.3 * m.r.ExpFloat64()
	}
	return 25e6 * math.Exp(v)
}

// judge measures a bad build and a commit that take so much longer than the good build, on
// logarithms, block by block, and looks as often as the rule has it.
func (m machine) judge(alpha, bad, commit float64) Finding {
	var v Values
	speed := 0.05 * m.r.NormFloat64()
	for n := 1; ; n++ {
		speed += 0.01 * m.r.NormFloat64() // the machine drifts
		block := speed + 0.05*m.r.NormFloat64()
		v.Good = append(v.Good, m.value(block, 0))
		v.Bad = append(v.Bad, m.value(block, bad))
		v.Commit = append(v.Commit, m.value(block, commit))
		if !slices.Contains(Looks, n) {
			continue
		}
		if f := Look(alpha, v, n == MostBlocks); f.Decided() || n == MostBlocks {
			return f
		}
	}
}

// TestWrongDecisions: of commits before or after a step of 3 or 4 %, to which the compiler
// adds a little of either, so few are judged wrongly that --error's default holds, and
// nearly all are judged.
func TestWrongDecisions(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for seconds: left out with -short")
	}
	const commits, alpha = 2000, 0.005
	wrong, open := 0, 0
	for i := range commits {
		m := machine{r: rand.New(rand.NewPCG(19, uint64(i))), noise: 0.03}
		step := math.Log1p([]float64{0.03, 0.04}[i%2])
		at, want := 0.0, AsGood
		if i%4 >= 2 {
			at, want = step, AsBad
		}
		switch v := m.judge(alpha, step, at+0.002*m.r.NormFloat64()).Verdict; {
		case v == Unclear || v == Unseen:
			open++
		case v != want:
			wrong++
		}
	}
	bound := stats.Wilson(wrong, commits, 0.9).Hi // one-sided 95 %
	t.Logf("of %d commits %d were judged wrongly (upper bound %.2f %%), %d not", commits, wrong, 100*bound, open)
	if bound > alpha {
		t.Errorf("%d of %d commits were judged wrongly: the upper bound is %.2f %%", wrong, commits, 100*bound)
	}
	if open > commits/100 {
		t.Errorf("%d of %d commits were not judged", open, commits)
	}
}

// TestNoDifference: builds that are the same are seldom told apart, and then a commit
// that is the same, too, is judged at the level of that one decision.
func TestNoDifference(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for seconds: left out with -short")
	}
	const runs, alpha = 300, 0.025
	judged := 0
	for i := range runs {
		if (machine{r: rand.New(rand.NewPCG(20, uint64(i))), noise: 0.03}).judge(alpha, 0, 0).Decided() {
			judged++
		}
	}
	if bound := stats.Wilson(judged, runs, 0.9).Lo; bound > alpha {
		t.Errorf("%d of %d commits were judged by builds that are the same", judged, runs)
	}
}

// TestMiddle: a commit in the middle between the builds is measured as long as allowed,
// and is not judged.
func TestMiddle(t *testing.T) {
	m := machine{r: rand.New(rand.NewPCG(1, 9)), noise: 0.005}
	if f := m.judge(0.005, 0.1, 0.05); f.Verdict != Unclear || f.Blocks != MostBlocks || math.Abs(f.Change.Value-math.Exp(0.05)) > 0.01 {
		t.Errorf("%+v", f)
	}
}

// TestMissing: blocks that lack a value of one are left out, and a metric of which
// more is better is turned.
func TestMissing(t *testing.T) {
	v := Values{Higher: true}
	for i := range 24 {
		block := float64(100 + i)
		v.Good, v.Bad, v.Commit = append(v.Good, block), append(v.Bad, 0.9*block), append(v.Commit, 0.9*block)
		if i%6 == 0 {
			v.Commit[i] = math.NaN()
		}
	}
	f := Look(0.01, v, true)
	if f.Verdict != AsBad || f.Blocks != 20 || math.Abs(f.Ends.Value-0.9) > 1e-9 || math.Abs(f.Change.Value-0.9) > 1e-9 {
		t.Errorf("%+v", f)
	}
	v.Higher = false
	if f := Look(0.01, v, true); f.Verdict != Unseen {
		t.Errorf("the bad build is the better one: %+v", f)
	}
	if f := Look(0.01, Values{}, true); f.Verdict != Unseen || f.Ends != nil {
		t.Errorf("%+v", f)
	}
}
