package kernel

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"plimsoll/internal/understand/analyze/sample"
)

// choice is a workload whose rate is known block by block.
func choice(how string, n int, ns float64, rates ...float64) Choice {
	return Choice{
		Params: map[string]string{Mechanism: how, Together: strconv.Itoa(n)},
		Value: func(metric string) ([]float64, *sample.Estimate, string) {
			if len(rates) == 0 {
				return nil, nil, "refused"
			}
			if metric == Rate {
				return rates, &sample.Estimate{Value: slices.Sorted(slices.Values(rates))[len(rates)/2]}, ""
			}
			return []float64{ns}, &sample.Estimate{Value: ns}, ""
		},
	}
}

func TestCharges(t *testing.T) {
	c := Of("host", []Choice{
		choice(process, 16, 10, 400, 380, 420, 410, 390, 400), choice(process, 1, 10, 200, 190, 210, 205, 195, 200),
		choice("veth", 1, 5000, 50, 40, 60, 50, 50, 50), choice("veth", 16, 5000, 50, 40, 60, 50, 50, 50),
		choice("seccomp", 1, 900, 100, 100, 100, 100, 100, 100), choice("seccomp", 16, 900, 199, 200, 201, 200, 200, 200),
		choice("time-namespace", 1, 1), choice("tmpfs", 1, 9000, 1, math.NaN(), 1, 1, 1, 1),
	})
	if c == nil || !slices.Equal(c.Together, []int{1, 16}) || len(c.Rows) != 5 {
		t.Fatalf("%+v", c)
	}
	near := func(e *sample.Estimate, want float64) bool {
		return e != nil && math.Abs(e.Value-want) < 0.01 && e.Lo != nil && *e.Lo <= e.Value && *e.Hi >= e.Value
	}
	if !near(c.Rows[0].Gain, 2) || !near(c.Rows[1].Gain, 1) || !near(c.Rows[2].Gain, 2) {
		t.Errorf("gains: %+v %+v %+v", c.Rows[0].Gain, c.Rows[1].Gain, c.Rows[2].Gain)
	}
	if r := c.Rows[3]; r.Cells[0].Missing != "refused" || r.Cells[1].Missing == "" || r.Gain != nil || !math.IsNaN(r.Alone()) {
		t.Errorf("one that is refused: %+v", r)
	}
	if d := c.Dearest(2); len(d) != 2 || d[0].Mechanism != "tmpfs" || d[1].Mechanism != "veth" || d[1].Alone() != 10000 {
		t.Errorf("the dearest are %+v", d)
	}
	if w := c.Waiting(); len(w) != 0 { // 1 is not below half of the lower end of 2
		t.Errorf("waiting: %+v", w)
	}
	*c.Rows[1].Gain.Hi = 0.9
	if w := c.Waiting(); len(w) != 1 || w[0].Mechanism != "veth" {
		t.Errorf("waiting: %+v", w)
	}
}

func TestNothingToCharge(t *testing.T) {
	for _, choices := range [][]Choice{
		nil, {choice("veth", 1, 1, 1)}, {choice("veth", 1, 1), choice("process", 1, 1)},
		{{Params: map[string]string{Mechanism: "a", Together: "x"}}, {Params: map[string]string{Mechanism: "b", Together: "x"}}},
	} {
		if c := Of("host", choices); c != nil {
			t.Errorf("%d choices: %+v", len(choices), c)
		}
	}
}
