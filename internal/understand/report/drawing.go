package report

import "plimsoll/internal/understand/analyze/sample"

// What tables and pictures write alike, beside words.go.

// Clean makes a text that came from a container or a file safe to show: one
// line without control characters and escape sequences, 300 characters at most.
func Clean(s string) string { return clean(s) }

// Shorten takes the middle out of a name, so that n characters are left.
func Shorten(s string, n int) string { return cutMiddle(s, n) }

// Scale chooses the multiple of a unit in which the values read best. A stored
// value divided by it is in the unit named.
func Scale(unit string, values []float64) (name string, by float64) {
	s := scaleFor(unit, values)
	return s.unit, s.by
}

// Number writes an estimate, divided by a scale, with as many digits as its
// interval deserves: the value, and "[lo, hi]" where it has one.
func Number(e sample.Estimate, by float64) (value, interval string) {
	n := numberOf(e, by, 6)
	return n.value, n.interval
}

// Letters shortens a cell's group: "bcde" is "b-e".
func Letters(group string) string { return ranges(group) }
