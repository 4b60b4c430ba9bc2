package load_test

import (
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze/evaluate"
)

func TestLoad(t *testing.T) {
	res, err := evaluate.Run(recordtest.Protocols(t, 2, nil), evaluate.Options{})
	require.NoError(t, err)
	cells := res.Workload("load").Load
	if len(cells) != 2 || cells[0].Arrivals != 400 || cells[0].Offered != 20 || cells[0].Failed != 0 {
		t.Fatalf("%+v", cells)
	}
	if c := cells[1]; c.Failed != 8 || len(c.Classes) != 1 || c.Classes[0].N != 8 {
		t.Errorf("%+v", c)
	}
	if q := cells[0].Latency; len(q) != 3 || q[2].Name != "p99" || q[2].N != 400 || q[0].Value < 200e6 || q[0].Value > 240e6 {
		t.Errorf("%+v", q)
	}
	// Two in a hundred never came: there is no p99 of what was measured.
	if q := cells[1].Latency; len(q) != 2 || q[1].Name != "p95" {
		t.Errorf("%+v", q)
	}
	s := res.Workload("search").Load[0]
	if !s.Search || s.Holds != 40 || s.Fails != 44 || len(s.Probes) != 12 {
		t.Errorf("%+v", s)
	}
	if c := res.Workload("search").Table(record.LoadMaxRate).Cell(s.Env); c.Median == nil || c.Median.Value != 40 {
		t.Errorf("%+v", c)
	}
}
