package sequential

import (
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
)

// HalfWidth is that of a cell's question, for the tests of the package from
// outside, which put gates to what they simulate.
func HalfWidth(t *analyze.Table, e int, envs []record.Environment) float64 {
	return questionOf(t, e, envs).half
}
