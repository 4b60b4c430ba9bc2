package derive_test

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/analyzetest"
	"plimsoll/internal/understand/analyze/density"
	"plimsoll/internal/understand/analyze/derive"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/analyze/load"
)

// sums sums a series up as runs of earlier versions did.
func sums(ramp []record.DensityStep, arrivals []record.LoadStep, search bool) map[string]float64 {
	if ramp != nil {
		return density.ReadRamp(ramp).Values()
	}
	return load.ReadLoad(arrivals, search).Values()
}

// Records of earlier versions have the metrics stored beside the series: they
// read alike, and what is stored there stays as it is.
func TestStoredValues(t *testing.T) {
	runs := map[string]*record.Reader{
		"stored":  recordtest.Protocols(t, 2, sums),
		"derived": recordtest.Protocols(t, 2, nil),
	}
	values, results := map[string][]map[string]float64{}, map[string]*analyze.Result{}
	for name, r := range runs {
		for tr, err := range derive.Trials(r) {
			require.NoError(t, err)
			values[name] = append(values[name], maps.Clone(tr.Values))
		}
		res, err := evaluate.Run(r, evaluate.Options{})
		require.NoError(t, err)
		results[name] = res
	}
	if len(values["stored"]) != 12 || !reflect.DeepEqual(values["stored"], values["derived"]) {
		t.Errorf("values stored: %v\nvalues derived: %v", values["stored"], values["derived"])
	}
	if !reflect.DeepEqual(results["stored"].Workloads, results["derived"].Workloads) {
		t.Error("a record with stored values is analysed in another way")
	}
	other := recordtest.Protocols(t, 1, func([]record.DensityStep, []record.LoadStep, bool) map[string]float64 {
		return map[string]float64{record.DensityReached: 7}
	})
	for tr, err := range derive.Trials(other) {
		require.NoError(t, err)
		if tr.Workload == "density" && (tr.Values[record.DensityReached] != 7 || tr.Values[record.DensityFootprint] == 0) {
			t.Errorf("the stored 7 are %v, and what is not stored is %v", tr.Values[record.DensityReached], tr.Values[record.DensityFootprint])
		}
	}
}

// A series that is damaged is remarked on. Its metrics are missing, but for
// those that an earlier version has stored.
func TestDamagedSeries(t *testing.T) {
	for name, c := range map[string]struct {
		r    *record.Reader
		kept bool
	}{"stored": {recordtest.Protocols(t, 1, sums), true}, "derived": {recordtest.Protocols(t, 1, nil), false}} {
		file := filepath.Join(c.r.Dir(), record.SamplesDir, "00000000.density.jsonl")
		require.NoError(t, os.WriteFile(file, []byte("{\"phase\":\"up\",\"n\":1}\nnonsense\n{}\n"), 0o644))
		res, err := evaluate.Run(c.r, evaluate.Options{})
		require.NoError(t, err)
		if n := len(res.Workload("density").Density); n != 1 {
			t.Errorf("%s: %d environments have ramps", name, n)
		}
		if !analyzetest.Has(res, "trial", res.Environments[0].ID, "") {
			t.Errorf("%s: no remark", name)
		}
		if m := res.Workload("density").Table(record.DensityFootprint).Cells[0].Median; (m != nil) != c.kept {
			t.Errorf("%s: the footprint is %+v", name, m)
		}
	}
}
