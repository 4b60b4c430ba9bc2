package analyze

import "plimsoll/internal/record"

// Checked says of a metric that proves that the same work was done whether it was:
// the first cell with a value, nil where the metric is of another kind or has none,
// in how many environments it has one, and whether all values are one.
func (t *Table) Checked() (first *Cell, n int, agree bool) {
	if t.Metric.Kind != record.Check {
		return nil, 0, false
	}
	agree = true
	for i := range t.Cells {
		c := &t.Cells[i]
		if c.Median == nil {
			continue
		}
		if n++; first == nil {
			first = c
		}
		agree = agree && c.Min != nil && c.Max != nil && *c.Min == *c.Max && *c.Min == *first.Min
	}
	return first, n, agree
}
