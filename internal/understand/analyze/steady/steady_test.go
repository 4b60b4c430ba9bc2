package steady

import (
	"math"
	"math/rand/v2"
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/sample"
)

// environments are twins in each state, beside others that are no part of it.
func environments() []record.Environment {
	out := []record.Environment{{ID: "native", Engine: "native", Baseline: "native"}, {ID: "lone", Engine: "docker", Levels: map[string]string{Factor: "all"}}}
	for _, state := range []string{"all", AsItIs, "quiet", "gone"} {
		for _, as := range []string{"a", "b"} {
			out = append(out, record.Environment{ID: state + "@" + as, Engine: "oci", Levels: map[string]string{"runtime": "crun", Factor: state}})
		}
	}
	return out
}

// TestKnownScatter: the state that halves the scatter is found to, and the one that
// changes nothing is not; the interval of the scatter's ratio holds the truth as often
// as it says.
func TestKnownScatter(t *testing.T) {
	const runs = 400
	covered, null, louder := 0, 0, 0
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 1))
		drift := make([]float64, 30)
		for i := range drift {
			drift[i] = 0.1 * r.NormFloat64()
		}
		column := func(env string) ([]float64, *sample.Estimate, string) {
			state := env[:len(env)-2]
			sd, times := map[string]float64{AsItIs: 0.1, "all": 0.05, "quiet": 0.1}[state], map[string]float64{AsItIs: 10, "all": 8, "quiet": 10}[state]
			if sd == 0 {
				return nil, nil, "every trial failed"
			}
			var y []float64
			for i := range drift {
				y = append(y, times*math.Exp(drift[i]+sd*r.NormFloat64()))
			}
			return y, &sample.Estimate{Value: times}, ""
		}
		tables := Of(environments(), "hello", record.Metric{ID: "startup", Unit: "ns"}, column)
		if len(tables) != 1 || tables[0].Engine != "oci" || len(tables[0].Rows) != 4 {
			t.Fatalf("%+v", tables)
		}
		base, all, quiet, gone := tables[0].Rows[0], tables[0].Rows[1], tables[0].Rows[2], tables[0].Rows[3]
		if base.State != AsItIs || base.Scatter != nil || all.State != "all" || gone.Missing == "" {
			t.Fatalf("%+v", tables[0].Rows)
		}
		if *all.Noise > *base.Noise {
			louder++
		}
		if *all.Scatter.Lo <= 0.5 && *all.Scatter.Hi >= 0.5 {
			covered++
		}
		if *quiet.Scatter.Lo > 1 || *quiet.Scatter.Hi < 1 {
			null++
		}
	}
	if louder > runs/50 {
		t.Errorf("in %d of %d runs half the scatter is more noise", louder, runs)
	}
	if covered < runs*92/100 || null > runs*8/100 {
		t.Errorf("the interval holds the truth in %d of %d runs, and %d states that change nothing are said to", covered, runs, null)
	}
}

func TestNothingToTell(t *testing.T) {
	none := func(string) ([]float64, *sample.Estimate, string) { return nil, nil, "no" }
	if got := Of(environments(), "hello", record.Metric{}, none); len(got) > 0 {
		t.Errorf("%+v", got)
	}
	if got := Of(environments()[:4], "hello", record.Metric{}, none); len(got) > 0 { // the machine as it is is missing
		t.Errorf("%+v", got)
	}
}
