package timeline

import "testing"

// TestRows: a row of several at once names what each waits for longer than one alone, over
// all programs, and one alone what it waits for.
func TestRows(t *testing.T) {
	tree := func(lock, work int64) *Step {
		return &Step{Name: "asks", NS: 2*lock + work, Steps: []*Step{
			{Name: "a lock", Cause: true, NS: lock},
			{Name: "daemon", NS: lock + work, Steps: []*Step{{Name: "a lock", Cause: true, NS: lock}, {Name: "work", Cause: true, NS: work}}},
		}}
	}
	a := &Explanation{What: "x", NS: 100e6, Tree: tree(10e6, 80e6)}
	b := &Explanation{What: "x, 4 at once", NS: 300e6, Tree: tree(90e6, 120e6), Overhead: 1.1, Lost: 2}
	a.Overhead, a.Lost = 1.02, 1
	c := Against(a, b)
	c.RateOf(4, []int64{390e6, 400e6, 410e6})
	row := c.Row()
	if row.Overhead != 1.1 || row.Lost != 3 {
		t.Errorf("what tracing cost, and what it lacks: %+v", row)
	}
	if row.What != "x" || row.AtOnce != 4 || row.PerSecond != 10 || row.Times != 3 || row.NS != 300e6 || len(row.Most) != 2 ||
		row.Most[0] != (Waited{"a lock", 160e6, 0.8}) || row.Most[1] != (Waited{"work", 40e6, 0.2}) {
		t.Errorf("%+v", row)
	}
	// Where starts in company take no longer, what grows has a share all the same.
	c = Against(&Explanation{What: "x", NS: 210e6, Tree: tree(90e6, 20e6)}, &Explanation{What: "x", NS: 200e6, Tree: tree(10e6, 80e6)})
	c.RateOf(2, []int64{300e6})
	if row := c.Row(); len(row.Most) != 1 || row.Most[0] != (Waited{"work", 60e6, 1}) {
		t.Errorf("%+v", row)
	}
	row = AloneRow(a)
	if row.Overhead != 1.02 || row.Lost != 1 || row.AtOnce != 1 || row.PerSecond != 10 || len(row.Most) != 2 || row.Most[0] != (Waited{"work", 80e6, 0.8}) || row.Most[1] != (Waited{"a lock", 20e6, 0.2}) {
		t.Errorf("%+v", row)
	}
}
