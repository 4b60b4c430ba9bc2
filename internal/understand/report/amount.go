package report

// Amount shows a single value with its unit, in the multiple of the unit that
// reads best, with three significant digits.
func Amount(v float64, unit string) string {
	s := scaleFor(unit, []float64{v})
	v /= s.by
	return fixed(v, digits(v, v, v)) + " " + s.unit
}
