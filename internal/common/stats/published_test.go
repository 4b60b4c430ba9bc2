package stats

import (
	"math"
	"slices"
	"testing"
)

// The moments are those of Python's statistics module; the others are counted by
// hand, with quartiles of type 7.
func TestEstimatorsOfPublishedStudies(t *testing.T) {
	x := []float64{12, 10, 11, 9, 13, 10, 11, 40}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-6*math.Abs(want) {
			t.Errorf("%s is %.9g, want %.9g", what, got, want)
		}
	}
	mean, sd, half := ZMean(x)
	near("mean", mean, 14.5)
	near("sd", sd, 10.378549307)
	near("half-width", half, 7.191835588)
	near("geometric mean", GeometricMean(x), 12.706518078)
	cut, dropped := MeanWithoutLargest(x)
	near("mean without the largest", cut, 10.5)
	if dropped != 2 {
		t.Errorf("%d dropped", dropped)
	}
	twenty := make([]float64, 20)
	for i := range twenty {
		twenty[i] = float64(20 - i)
	}
	if cut, dropped = MeanWithoutLargest(twenty); cut != 8 || dropped != 5 {
		t.Errorf("of twenty: %g without %d", cut, dropped)
	}
	b, ok := BoxOf(x)
	if !ok || b.Low != 9 || b.Q1 != 10 || b.Median != 11 || b.Q3 != 12.25 || b.High != 13 || !slices.Equal(b.Out, []float64{40}) {
		t.Errorf("%+v", b)
	}
}

func TestEstimatorsOfFewValues(t *testing.T) {
	if _, sd, half := ZMean([]float64{3}); !math.IsNaN(sd) || !math.IsNaN(half) {
		t.Error("one value has a deviation")
	}
	if v := GeometricMean([]float64{1, 0}); !math.IsNaN(v) {
		t.Errorf("the geometric mean with a zero is %g", v)
	}
	if m, _, _ := ZMean(nil); !math.IsNaN(m) {
		t.Errorf("the mean of nothing is %g", m)
	}
	if m, _ := MeanWithoutLargest(nil); !math.IsNaN(m) {
		t.Errorf("the mean of nothing is %g", m)
	}
	if _, ok := BoxOf([]float64{1, 2, 3, 4}); ok {
		t.Error("four values have a box")
	}
}
