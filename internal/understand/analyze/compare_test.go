package analyze

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// TestReversed: a comparison read from its other end is that of the two the other way round.
func TestReversed(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, n := range []int{1, 3, 5, 6, 20, 60, 1200} {
		for _, off := range []float64{0, 0.02, 1} {
			a, b := make([]float64, n), make([]float64, n+1)
			for i := range a {
				a[i], b[i] = math.Round(100*math.Exp(off+0.05*r.NormFloat64())), math.Round(100*math.Exp(0.05*r.NormFloat64()))
				if r.IntN(20) == 0 {
					a[i] = math.NaN()
				}
			}
			x, y := columnOf(a), columnOf(b)
			c, _ := compare(x, y, 0.01)
			want, _ := compare(y, x, 0.01)
			if got := c.reversed(0.01); !reflect.DeepEqual(got.Comparison, want.Comparison) {
				t.Errorf("%d blocks, %v off: %+v, want %+v", n, off, got.Comparison, want.Comparison)
			}
		}
	}
	zero, _ := compare(columnOf([]float64{0}), columnOf([]float64{1}), 0.01)
	if got := zero.reversed(0.01); got.Comparison != zero.Comparison {
		t.Errorf("%+v", got.Comparison)
	}
}
