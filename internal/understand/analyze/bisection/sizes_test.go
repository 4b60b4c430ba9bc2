package bisection

import "testing"

// TestSizes: one look decides, by the nearer build.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		sizes   Sizes
		verdict Verdict
		change  float64
	}{
		{Sizes{Good: 1000, Bad: 2000, Commit: 1499}, AsGood, 1.499},
		{Sizes{Good: 1000, Bad: 2000, Commit: 1500}, AsBad, 1.5},
		{Sizes{Good: 1000, Bad: 2000, Commit: 500}, AsGood, 0.5},
		{Sizes{Good: 1000, Bad: 2000, Commit: 4000}, AsBad, 4},
		{Sizes{Good: 1000, Bad: 1000, Commit: 1000}, Unseen, 1},
		{Sizes{Good: 1000, Bad: 999, Commit: 999}, Unseen, 0.999},
	} {
		if f := c.sizes.Look(); f.Verdict != c.verdict || f.Change.Value != c.change || f.Blocks != 0 || *f.Bytes != c.sizes {
			t.Errorf("%+v: %+v, change %v", c.sizes, f, f.Change.Value)
		}
	}
}
