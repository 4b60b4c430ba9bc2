package density_test

import (
	"math"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze/evaluate"
)

// The truth of the ramps is inside the intervals, whatever they come from.
func TestDensity(t *testing.T) {
	for ramps, method := range map[int]string{1: "points", 3: "t", 8: "ramps"} {
		res, err := evaluate.Run(recordtest.Protocols(t, ramps, nil), evaluate.Options{})
		require.NoError(t, err)
		cells := res.Workload("density").Density
		if len(cells) != 2 || cells[0].Ramps != ramps || cells[0].Reached != 40 || cells[0].Asked != 40 || cells[0].Limits != nil {
			t.Fatalf("%d ramps: %+v", ramps, cells)
		}
		if c := cells[1]; c.Reached != 25 || len(c.Limits) != 1 || c.Limits[0].Class != record.LimitBridge {
			t.Errorf("%d ramps: %+v", ramps, c.Limits)
		}
		for metric, want := range map[string]float64{
			record.DensityPart + "payload": 64 << 20,
			record.DensityPart + "daemon":  100<<10 + 1<<20,
			record.DensityPart + "kernel":  600 << 10,
			record.DensityStartSlope:       500e3,
			record.DensityFootprint:        64<<20 + 3<<20 + 700<<10 + 1<<20,
		} {
			s := cells[0].Slope(metric)
			if s == nil || s.Method != method {
				t.Errorf("%d ramps, %s: %+v", ramps, metric, s)
				continue
			}
			if math.Abs(s.Value-want) > 0.1*want || s.Lo != nil && (*s.Lo > want*1.02 || *s.Hi < want*0.98) {
				t.Errorf("%d ramps, %s: %v [%v, %v], true %v", ramps, metric, s.Value, *s.Lo, *s.Hi, want)
			}
		}
		if n := len(cells[0].Starts.N); n != 40 || cells[0].Starts.N[0] != 0 || cells[0].Stops.N[39] != 39 {
			t.Errorf("%d ramps: curves %+v", ramps, cells[0].Starts)
		}
		c := res.Workload("density").Table(record.DensityNotBackPart + "daemon").Cell(cells[0].Env)
		if c.Median == nil || c.Median.Value != 40<<20 {
			t.Errorf("%d ramps: 40 leaks of 1 MiB are %+v", ramps, c.Median)
		}
	}
}
