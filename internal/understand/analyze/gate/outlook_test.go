package gate

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/analyzetest"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/sample"
)

// What a gate says that it finds in nine of ten runs it finds in about so many,
// by pairs and of two runs, of one cell and of several.
func TestGateFindsWhatItSays(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 8))
	const n, sd, limit = 40, 0.03, 0.01
	for _, paired := range []bool{true, false} {
		for _, cells := range []int{1, 4} {
			draw := func(shift float64) sample.Sample {
				s := sample.Sample{Paired: paired}
				for range n {
					s.X = append(s.X, shift+sd*r.NormFloat64())
					if !paired {
						s.Y = append(s.Y, sd*r.NormFloat64())
					}
				}
				return s
			}
			judge := func(shift float64) *compare.Changes {
				done := &analyze.Result{Run: analyze.RunInfo{Status: "done"}}
				c := &compare.Changes{Interleaved: paired, BaseRun: done, NewRun: done, Delta: 0.01}
				for i := range cells {
					ch := compare.Change{Metric: record.LifeCycle[1], Env: string(rune('a' + i)), Base: &sample.Estimate{}, New: &sample.Estimate{}, Against: "native", Sample: draw(shift * float64(max(0, 1-i)))}
					c.Cells = append(c.Cells, ch)
				}
				c.Estimate()
				require.NoError(t, Judge(c, Thresholds{FailAbove: limit}))
				return c
			}
			said := 0.0
			const pilots, reps = 20, 150
			for range pilots {
				said += *judge(0).Cells[0].Gate.Finds / pilots
			}
			found := 0
			for range reps {
				if judge(math.Log1p(said)).Cells[0].Gate.State == compare.GateFails {
					found++
				}
			}
			if share := float64(found) / reps; share < 0.8 || share > 0.98 {
				t.Errorf("paired %v, %d cells: %.1f %% worse, as it says, is found in %.0f %%", paired, cells, 100*said, 100*share)
			}
		}
	}
}

// Before it goes on, a run says what its gate will find: the more blocks, the
// less, and near to what it could have found when it is over.
func TestOutlook(t *testing.T) {
	spec := analyzetest.Session(1, 1, nil)
	base := analyzetest.Run(t, analyzetest.Session(2, 1, nil))
	gate := Thresholds{FailAbove: 0.05, Rules: []Rule{{Metric: "*", Ignore: true}, {Metric: "startup", FailAbove: 0.05}}}
	few, seen, err := Foresee(spec.Open(t), nil, []string{"crun", "runc"}, gate, 20, 1.0/3)
	if err != nil || len(few) != 1 || few[0].Metric != "startup" || few[0].Name != "crun → runc" || seen < 20 {
		t.Fatalf("%v %+v of %d blocks", err, few, seen)
	}
	many, _, _ := Foresee(spec.Open(t), nil, []string{"crun", "runc"}, gate, 200, 1.0/3)
	if !(many[0].Worsening > 0.05 && many[0].Worsening < few[0].Worsening) {
		t.Errorf("20 blocks find %v, 200 find %v", few, many)
	}
	c, err := compare.Within(analyzetest.Run(t, spec), "crun", "runc", compare.Options{})
	require.NoError(t, err)
	c.NewRun.Run.Gate = &record.Gate{Looks: 3}
	require.NoError(t, Judge(c, gate))
	could := CouldFind(c)
	if len(could) != 1 || math.Abs(could[0].Worsening-few[0].Worsening) > 0.5*(few[0].Worsening-0.05) {
		t.Errorf("it was to find %v and could have found %v", few, could)
	}
	two, _, err := Foresee(spec.Open(t), base, nil, gate, 20, 1.0/3)
	if err != nil || len(two) != 3 || two[0].Worsening > two[2].Worsening {
		t.Errorf("against BASE: %v %v", err, two)
	}
	text := Outlook(few, 4, 560, time.Minute, []int{140, 280})
	for _, want := range []string{"by the scatter of the first 4 blocks, in 1m0s, about 560 blocks, this gate will find a worsening of ", "(startup of hello in crun → runc) in nine of ten runs", "; it looks after 140, after 280, when the time is up"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q lacks %q", text, want)
		}
	}
	for blocks, want := range map[int][]int{9: nil, 19: nil, 20: {10}, 39: {19}, 40: {10, 20}, 900: {225, 450}} {
		if got := Within(blocks); !slices.Equal(got, want) {
			t.Errorf("%d blocks: %v", blocks, got)
		}
	}
}
