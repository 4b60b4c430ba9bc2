package ablation

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/sample"
)

var startup, _ = record.MetricByID("startup")

// machine makes columns with known costs: what each environment takes is the sum
// of what it has not been taken, times the state of the machine in the block, with
// scatter of its own.
type machine struct {
	r       *rand.Rand
	blocks  []float64
	scatter float64
	of      map[string]float64
	seen    map[string][]float64
	missing map[string]string
}

func newMachine(seed uint64, blocks int, scatter float64, of map[string]float64) *machine {
	m := &machine{r: rand.New(rand.NewPCG(seed, 1)), scatter: scatter, of: of, seen: map[string][]float64{}, missing: map[string]string{}}
	state := 1.0
	for range blocks { // it drifts
		state *= math.Exp(0.05 * m.r.NormFloat64())
		m.blocks = append(m.blocks, state)
	}
	return m
}

func (m *machine) column(env string) ([]float64, *sample.Estimate, string) {
	if why := m.missing[env]; why != "" || env == "" {
		return nil, nil, why + " "
	}
	x := m.seen[env]
	if x == nil {
		for _, state := range m.blocks {
			x = append(x, m.of[env]*state*math.Exp(m.scatter*m.r.NormFloat64()))
		}
		m.seen[env] = x
	}
	s := slices.Sorted(slices.Values(x))
	return x, &sample.Estimate{Value: s[len(s)/2]}, ""
}

// known: of 100, a is 20 and b 10; c is 30 alone and 10 once a is gone; the runtime
// below is 40 of which 5 is d; the floor is 1.
func known() (*record.Ablation, map[string]float64) {
	a := &record.Ablation{Engine: "top", Base: "base", Steps: []record.AblationStep{
		{Mechanism: "a", Title: "an a", Price: "no a", With: "base", Without: "-a", After: "-a"},
		{Mechanism: "b", With: "base", Without: "-b", After: "-a-b"},
		{Mechanism: "c", With: "base", Without: "-c", After: "-a-b-c"},
		{Mechanism: "e", Missing: "it is not there"},
	}, HeldOut: []record.HeldOut{{Env: "-b-x", Mechanisms: []string{"a", "b"}}, {Env: "-a-c", Mechanisms: []string{"a", "c"}}},
		Below: []record.Below{{Engine: "low", Env: "low", Steps: []record.AblationStep{{Mechanism: "d", After: "low-d"}}}, {Engine: "floor", Env: "floor"}}}
	return a, map[string]float64{"base": 100, "-a": 80, "-b": 90, "-c": 70, "-a-b": 70, "-a-b-c": 60, "low": 40, "low-d": 35, "floor": 1,
		"-b-x": 70, "-a-c": 70}
}

func TestKnownCosts(t *testing.T) {
	a, of := known()
	w := Of(a, "hello", startup, newMachine(1, 40, 0.02, of).column)
	for i, want := range []struct {
		kind         Kind
		of, what     string
		chain, alone float64
		together     bool
	}{{Mechanism, "top", "a", 20, 20, false}, {Mechanism, "top", "b", 10, 10, false}, {Mechanism, "top", "c", 10, 30, true}, {Mechanism, "top", "e", 0, 0, false},
		{Engine, "top", "low", 20, 0, false}, {Mechanism, "low", "d", 5, 0, false}, {Last, "low", "floor", 34, 0, false}} {
		s := w.Steps[i]
		if s.Kind != want.kind || s.Of != want.of || s.Mechanism != want.what || (s.Together != nil) != want.together {
			t.Errorf("step %d: %+v", i, s)
		}
		for name, e := range map[string]*sample.Estimate{"chain": s.Chain, "alone": s.Alone} {
			truth := map[string]float64{"chain": want.chain, "alone": want.alone}[name]
			if (e != nil) != (truth != 0) {
				t.Errorf("%s %s: %v, truth %v", s.Mechanism, name, e, truth)
			} else if e != nil && (e.Value < 0.7*truth-1 || e.Value > 1.4*truth+1) {
				t.Errorf("%s %s: %v [%v, %v], truth %v", s.Mechanism, name, e.Value, *e.Lo, *e.Hi, truth)
			}
		}
	}
	if w.Steps[3].Missing == "" {
		t.Error("what could not be taken away gives no reason")
	}
	if w.Blocks != 40 || w.Whole == nil || math.Abs(w.Rest) > 0.03*w.Whole.Value || w.Floor.Env != "floor" {
		t.Errorf("%+v", w)
	}
	// What belongs together can't be predicted from each alone, the others can.
	if !w.HeldOut[0].Fits || w.HeldOut[1].Fits || math.Abs(w.HeldOut[1].Off.Value-20) > 5 {
		t.Errorf("held out: %+v, %+v", w.HeldOut[0], w.HeldOut[1].Off)
	}
}

// The intervals hold the truth as often as they say, and nothing belongs together
// where nothing does.
func TestCoverage(t *testing.T) {
	a, of := known()
	of["-c"], of["-a-c"] = 90, 70
	held, all, alarms, fits := 0, 0, 0, 0
	const times = 400
	for seed := range uint64(times) {
		m := newMachine(seed+10, 20, 0.05, of)
		for i := range m.blocks {
			m.blocks[i] = 1 // the truth is then the same in every block
		}
		w := Of(a, "hello", startup, m.column)
		alarm := false
		for _, s := range w.Steps {
			alarm = alarm || s.Together != nil
			if s.Chain == nil {
				continue
			}
			truth := map[string]float64{"a": 20, "b": 10, "c": 10, "low": 20, "d": 5, "floor": 34}[s.Mechanism]
			all++
			if *s.Chain.Lo <= truth && truth <= *s.Chain.Hi {
				held++
			}
		}
		if alarm {
			alarms++
		}
		if w.HeldOut[1].Fits {
			fits++
		}
	}
	if share := float64(held) / float64(all); share < 0.93 || share > 0.98 {
		t.Errorf("%.3f of %d intervals hold the truth", share, all)
	}
	if share := float64(alarms) / times; share > 0.08 {
		t.Errorf("in %.3f of the runs something is said to belong together", share)
	}
	if share := float64(fits) / times; share < 0.95 {
		t.Errorf("%.3f of the predictions fit", share)
	}
}

// An environment that was not measured is passed over: the next step has its cost
// too.
func TestMissing(t *testing.T) {
	a, of := known()
	m := newMachine(3, 20, 0.01, of)
	m.missing["-a-b"], m.missing["low"] = "it could not be opened", "it could not be opened"
	w := Of(a, "hello", startup, m.column)
	b, c, low, d := w.Steps[1], w.Steps[2], w.Steps[4], w.Steps[5]
	if !slices.Equal(c.Includes, []string{"b"}) || c.Together != nil || !slices.Equal(d.Includes, []string{"low"}) {
		t.Errorf("what a cost includes is not said: %+v, %+v", c, d)
	}
	if b.Chain != nil || b.Alone == nil || c.Chain == nil || math.Abs(c.Chain.Value-20) > 6 {
		t.Errorf("%+v, %+v", b, c)
	}
	if low.Missing == "" || d.Chain == nil {
		t.Errorf("%+v, %+v", low, d)
	}
	if m.missing["base"] = "no"; Of(a, "hello", startup, m.column) != nil {
		t.Error("a waterfall without a base")
	}
}

// A base that is there three times is known better, and chance makes nothing of
// nothing.
func TestAgain(t *testing.T) {
	a, of := known()
	of["base@again"], of["base@again-2"] = 100, 100
	var width [2]float64
	nothing := 0
	const times = 200
	for seed := range uint64(times) {
		for i, again := range [][]string{nil, {"base@again", "base@again-2"}} {
			a.Again = again
			w := Of(a, "hello", startup, newMachine(seed, 20, 0.05, of).column)
			width[i] += *w.Steps[0].Alone.Hi - *w.Steps[0].Alone.Lo
			if (w.Nothing != nil) != (again != nil) {
				t.Fatalf("%v: %+v", again, w.Nothing)
			}
			if w.Nothing != nil && *w.Nothing.Lo <= 0 && *w.Nothing.Hi >= 0 {
				nothing++
			}
		}
	}
	if ratio := width[1] / width[0]; ratio > 0.9 {
		t.Errorf("the intervals are %.2f times as wide as without", ratio)
	}
	if share := float64(nothing) / times; share < 0.91 {
		t.Errorf("nothing is told from nothing in %.3f of the runs", 1-share)
	}
}

// What is added costs what it costs, and its cost is added to a prediction where that
// of what is taken away is taken off.
func TestAdded(t *testing.T) {
	a, of := known()
	a.Added = []record.AblationStep{{Mechanism: "x", With: "+x", Without: "base"}, {Mechanism: "y", Missing: "not here"},
		{Mechanism: "z", With: "+z", Without: "base"}}
	a.HeldOut = append(a.HeldOut, record.HeldOut{Env: "-a+x", Mechanisms: []string{"a", "x"}}, record.HeldOut{Env: "-a+z", Mechanisms: []string{"a", "z"}})
	of["+x"], of["-a+x"], of["+z"], of["-a+z"] = 115, 95, 150, 80
	m := newMachine(4, 40, 0.01, of)
	w := Of(a, "hello", startup, m.column)
	if x := w.Added[0]; x.Kind != Addition || x.Alone == nil || math.Abs(x.Alone.Value-15) > 3 || x.Missing != "" {
		t.Errorf("%+v", x)
	}
	if y := w.Added[1]; y.Alone != nil || y.Missing != "not here" {
		t.Errorf("%+v", y)
	}
	if fits, not := w.HeldOut[2], w.HeldOut[3]; !fits.Fits || not.Fits || math.Abs(not.Off.Value+50) > 15 {
		t.Errorf("%+v (%+v), %+v (%+v)", fits, fits.Off, not, not.Off)
	}
}
