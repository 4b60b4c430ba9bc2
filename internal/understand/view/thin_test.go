package view

import (
	"math"
	"slices"
	"testing"
)

func TestThin(t *testing.T) {
	var x, y []float64
	for i := range 5000 {
		x, y = append(x, float64(i)), append(y, math.Sin(float64(i)/300))
	}
	y[1234], y[3333] = 9, -9
	for _, n := range []int{3, 4, 50, 299, 4999} {
		keep := thin(x, y, n)
		if len(keep) != n || keep[0] != 0 || keep[n-1] != len(x)-1 || !slices.IsSorted(keep) || len(slices.Compact(slices.Clone(keep))) != n {
			t.Errorf("%d points of %d: %v…", len(keep), n, keep[:3])
		}
		if n >= 50 && !(slices.Contains(keep, 1234) && slices.Contains(keep, 3333)) {
			t.Errorf("%d points without the peaks", n)
		}
	}
	if keep := thin(x[:7], y[:7], 7); len(keep) != 7 {
		t.Errorf("%v", keep)
	}
	if keep := thin(nil, nil, 100); len(keep) != 0 {
		t.Errorf("%v", keep)
	}
}

func TestRound(t *testing.T) {
	for in, want := range map[float64]float64{
		0: 0, 1234567: 1234567, 0.1234567891: 0.1234568, 131234567: 131234600, -2.5: -2.5, 1e300: 1e300, math.Inf(1): math.MaxFloat64,
	} {
		if got := round(in); got != want {
			t.Errorf("%v becomes %v, not %v", in, got, want)
		}
	}
	type nest struct {
		P *float64
		S []string
		M map[string]*float64
	}
	nan, one := math.NaN(), 1.00000000001
	got, err := tidy(nest{&nan, []string{"a\xff"}, map[string]*float64{"x": &one}})
	if err != nil || got.P != nil || got.S[0] != "a\uFFFD" || *got.M["x"] != 1 || one == 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := tidy([]float64{nan}); err == nil {
		t.Error("what is no number passes")
	}
}

// A counter's growth is all in its rate, wherever the samples lie.
func TestResample(t *testing.T) {
	tr := trace{counter: true, at: []int64{-3e5, 4e6, 19e6, 33e6, 50e6}, values: []float64{0, 0, 6, 6, 10}}
	rates := tr.resample(10e6, 5)
	sum := 0.0
	for _, r := range rates {
		sum += r * 10e6 * 1e-9
	}
	if math.Abs(sum-10) > 1e-9 || rates[4] < rates[2] {
		t.Errorf("%v: %v", rates, sum)
	}
	tr.counter = false
	levels := tr.resample(10e6, 7)
	if math.Abs(levels[1]-6*11.0/15) > 1e-9 || !math.IsNaN(levels[5]) {
		t.Errorf("%v", levels)
	}
}

// What is seen late was used before, by no more processors than there are.
func TestSpread(t *testing.T) {
	tr := trace{counter: true, at: []int64{0, 10e6, 20e6, 30e6, 40e6}, values: []float64{0, 0, 0, 0.05, 0.06}}
	tr.spread(2)
	for i, want := range []float64{0, 0.01, 0.03, 0.05, 0.06} {
		if math.Abs(tr.values[i]-want) > 1e-12 {
			t.Errorf("%v", tr.values)
			break
		}
	}
}

func TestQuota(t *testing.T) {
	for _, c := range []struct {
		want []int
		room int
		each int
	}{{nil, 10, math.MaxInt}, {[]int{3, 3, 4}, 10, math.MaxInt}, {[]int{1, 100, 2}, 10, 7}, {[]int{9, 9, 9}, 2, 1}, {[]int{0, 50, 50}, 10, 5}} {
		if got := quota(c.want, c.room); got != c.each {
			t.Errorf("%v in %d: %d each, not %d", c.want, c.room, got, c.each)
		}
	}
}
