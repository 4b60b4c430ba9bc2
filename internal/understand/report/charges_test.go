package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"plimsoll/internal/common/golden"
	"plimsoll/internal/common/require"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/kernel"
	"plimsoll/internal/understand/analyze/sample"
)

// charges are made up, with everything that there can be.
func charges() *analyze.Result {
	is := func(v, half float64) *sample.Estimate {
		lo, hi := v-half, v+half
		return &sample.Estimate{Value: v, Lo: &lo, Hi: &hi}
	}
	cell := func(makes, ends, rate float64) kernel.Cell {
		return kernel.Cell{Make: is(makes, makes/10), End: is(ends, ends/10), Rate: is(rate, rate/20)}
	}
	return &analyze.Result{Run: analyze.RunInfo{Repeat: "plimsoll floor --blocks 6 --seed 1"}, Charges: []*kernel.Charges{{
		Env: "native", Together: []int{1, 16, 64}, Rows: []kernel.Row{
			{Mechanism: "process", Cells: []kernel.Cell{cell(61e3, 38e3, 8600), cell(72e3, 500e3, 20600), cell(75e3, 2e6, 21000)}, Gain: is(2.4, 0.1)},
			{Mechanism: "veth", Cells: []kernel.Cell{cell(400e3, 14.5e6, 62), cell(1.8e6, 37e6, 340), {Missing: "every trial failed"}}},
			{Mechanism: "network-namespace", Cells: []kernel.Cell{cell(380e3, 39e3, 1800), cell(525e3, 576e3, 1900), cell(600e3, 2e6, 1900)}, Gain: is(1.05, 0.04)},
			{Mechanism: "overlay <x>", Cells: []kernel.Cell{{Missing: "The container may not use this mechanism."}, {Missing: "y"}, {Missing: "z"}}},
		},
	}}}
}

func TestCharges(t *testing.T) {
	one := charges()
	one.Charges[0].Together = one.Charges[0].Together[:1]
	for i := range one.Charges[0].Rows {
		one.Charges[0].Rows[i].Cells = one.Charges[0].Rows[i].Cells[:1]
		one.Charges[0].Rows[i].Gain = nil
	}
	for name, c := range map[string]struct {
		of   *analyze.Result
		opts Options
	}{"charges.text": {charges(), Options{Width: 120}}, "charges.70.text": {charges(), Options{Width: 70, ASCII: true}}, "charges.80.text": {charges(), Options{Width: 80}}, "charges.markdown": {charges(), Options{}}, "charges-one.text": {one, Options{Width: 80}}} {
		var b bytes.Buffer
		require.NoError(t, Charges.Write(&b, name[strings.LastIndex(name, ".")+1:], c.of, c.opts))
		golden.Check(t, "testdata/"+name, b.String())
	}
	var b bytes.Buffer
	var back []kernel.Charges
	require.NoError(t, Charges.Write(&b, "json", charges(), Options{}))
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || len(back) != 1 || len(back[0].Rows) != 4 || *back[0].Rows[2].Gain.Lo != 1.01 {
		t.Errorf("%v: %s", err, b.String())
	}
}
