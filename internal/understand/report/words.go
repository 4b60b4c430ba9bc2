package report

import (
	"strings"

	"plimsoll/internal/understand/analyze/sample"
)

// Estimate shows an estimate with its unit and its interval, where it has one,
// with as many digits as the interval carries.
func Estimate(e sample.Estimate, unit string) string {
	s := scaleFor(unit, []float64{e.Value})
	n := numberOf(e, s.by, 6)
	return strings.Join(strings.Fields(n.value+" "+s.unit+" "+n.interval), " ")
}

// List names things as a sentence does: "a, b and c".
func List(names []string) string { return listOf(names) }

// Name is an environment's name as tables and charts have room for it: clean,
// and a long one without its middle. It need not be unique.
func Name(env string) string { return nameOf(env) }
