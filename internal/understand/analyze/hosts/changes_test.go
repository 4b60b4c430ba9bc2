package hosts

import (
	"math/rand/v2"
	"testing"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/sample"
)

// TestChangesCover: the pooled interval of a change holds the truth in at least 93 % of
// simulations, although a session moves each host by as much as its blocks scatter; and
// without a change at most about 5 % are called one.
func TestChangesCover(t *testing.T) {
	for _, c := range []struct {
		hosts, blocks int
		session       float64
	}{{5, 10, 0}, {5, 10, 0.03}, {10, 20, 0.03}, {20, 6, 0.01}} {
		const n, truth = 1000, 0.02
		r := rand.New(rand.NewPCG(uint64(c.hosts), uint64(c.blocks)))
		held, alarms := 0, 0
		for range n {
			x := NewComparing(compare.Options{})
			x.out.Delta = 0.0001 // next to nothing is equal for practical purposes
			for row, shift := range []float64{truth, 0} {
				x.out.Rows = append(x.out.Rows, ChangeRow{Metric: record.Metric{Unit: "ns"}})
				x.group = append(x.group, nil)
				for range c.hosts {
					s := sample.Sample{X: normal(r, c.blocks, shift+c.session*r.NormFloat64()), Y: normal(r, c.blocks, 0)}
					center, se, nu := s.Moments()
					x.group[row] = append(x.group[row], stats.Group{Estimate: center, Variance: se * se, Nu: nu})
				}
				x.pool(row, 1)
			}
			if p := x.out.Rows[0].Pooled.Ratio; *p.Lo <= 1.0202013 && *p.Hi >= 1.0202013 {
				held++
			}
			if v := x.out.Rows[1].Verdict; v == compare.Better || v == compare.Worse {
				alarms++
			}
		}
		t.Logf("%d hosts of %d blocks, sessions of %g: held in %.3f, false alarms %.3f", c.hosts, c.blocks, c.session, float64(held)/n, float64(alarms)/n)
		if float64(held)/n < 0.93 || float64(alarms)/n > 0.07 {
			t.Errorf("%+v: held in %.3f, false alarms in %.3f", c, float64(held)/n, float64(alarms)/n)
		}
	}
}

// normal are the logarithms of a run's blocks, which scatter by 3 %.
func normal(r *rand.Rand, n int, shift float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = shift + 0.03*r.NormFloat64()
	}
	return out
}
