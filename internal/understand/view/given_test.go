package view_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/density"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/analyze/load"
	"plimsoll/internal/understand/view"
)

// analysed is what analyze says of a run, with the quantiles that a page needs.
func analysed(tb testing.TB, r *record.Reader) *analyze.Result {
	tb.Helper()
	res, err := evaluate.Run(r, evaluate.Options{Levels: view.Levels})
	require.NoError(tb, err)
	return res
}

func protocols(tb testing.TB) *record.Reader {
	tb.Helper()
	return recordtest.Protocols(tb, 2, nil)
}

// With an analysis that is there already the data are the same, and it stays as
// it is.
func TestGivenResult(t *testing.T) {
	for name, r := range map[string]*record.Reader{"typical": recordtest.Typical().Open(t), "protocols": protocols(t)} {
		res := analysed(t, r)
		if !bytes.Equal(encode(t, build(t, r, view.Options{Result: res})), encode(t, build(t, r, view.Options{}))) {
			t.Errorf("%s: other data than without an analysis", name)
		}
	}
	// Curves that are thinned, and probes that are left out.
	r := protocols(t)
	res := analysed(t, r)
	ramps, search := res.Workload("density"), res.Workload("search")
	var long density.Points
	for i := range 5000 {
		long.N, long.Y = append(long.N, float64(i)), append(long.Y, float64(i*i%977))
	}
	ramps.Density[0].Starts = new(density.Points{N: slices.Clone(long.N), Y: slices.Clone(long.Y)})
	ramps.Density[0].Memory = map[string]density.Points{"payload": {N: slices.Clone(long.N), Y: slices.Clone(long.Y)}}
	search.Load[0].Probes = make([]record.LoadProbe, 3000)
	search.Load[0].Queue = &load.Queue{Seconds: slices.Clone(long.N), InFlight: slices.Clone(long.Y)}
	// It is this analysis that is drawn, and not another one of the same run.
	res.Run.Title = "as it was given"
	before, err := json.Marshal(res)
	require.NoError(t, err)
	d := build(t, r, view.Options{Result: res})
	if d.Run.Title != "as it was given" || len(d.Works[0].Density[0].Starts.N) >= len(long.N) || len(d.Works[2].Load[0].Probes) > 0 {
		t.Errorf("%q, %d points, %d probes", d.Run.Title, len(d.Works[0].Density[0].Starts.N), len(d.Works[2].Load[0].Probes))
	}
	if after, err := json.Marshal(res); err != nil || !bytes.Equal(before, after) {
		t.Errorf("drawing changed the analysis: %v", err)
	}
}

// An analysis without the quantiles, or of another run, is refused.
func TestGivenResultRefused(t *testing.T) {
	r := recordtest.Typical().Open(t)
	plain, err := evaluate.Run(r, evaluate.Options{})
	require.NoError(t, err)
	other := analysed(t, r)
	other.Run.ID = "another1"
	for want, res := range map[string]*analyze.Result{"lacks the quantiles": plain, "of run another1": other} {
		if _, err := view.Build(r, view.Options{Result: res}); err == nil || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
