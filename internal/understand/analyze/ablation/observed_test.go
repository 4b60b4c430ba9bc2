package ablation

import (
	"testing"

	"plimsoll/internal/understand/analyze/sample"
)

func TestVerdict(t *testing.T) {
	lo, hi := 40e6, 60e6
	narrow, wide := &sample.Estimate{Value: 50e6}, &sample.Estimate{Value: 50e6, Lo: &lo, Hi: &hi}
	for _, c := range []struct {
		cost       *sample.Estimate
		gone, rest int64
		want       Verdict
	}{
		{narrow, 41e6, 0, Same},
		{narrow, 39e6, 0, Open},
		{wide, 40e6, -30e6, Same}, // inside the interval; what else changed is another thing's
		{narrow, 20e6, 25e6, Elsewhere},
		{narrow, 80e6, -35e6, Elsewhere}, // what was waited for next became longer
		{narrow, 20e6, 5e6, Open},
		{narrow, 80e6, 35e6, Open},
		{nil, 50e6, 0, ""},
	} {
		s := Step{Alone: c.cost, Observed: &Observed{Gone: c.gone, Else: c.rest}}
		if got := s.Verdict(); got != c.want {
			t.Errorf("%v of which %d ns are gone and %d else: %q, expected %q", c.cost, c.gone, c.rest, got, c.want)
		}
	}
	if got := (&Step{Alone: narrow}).Verdict(); got != "" {
		t.Errorf("not traced: %q", got)
	}
	if !(&ObservedStep{With: 10, Without: 0}).Gone() || !(&ObservedStep{With: 1, Without: 11}).Gone() || (&ObservedStep{With: 10, Without: 2}).Gone() {
		t.Error("a step is gone where hardly anything of it is left")
	}
}
