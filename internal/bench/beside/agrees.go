// Package beside reads and judges what is measured of others beside us. It is apart
// from the benchmarks that measure, so that it is tested without the engines.
package beside

import (
	"fmt"
	"math"

	"plimsoll/internal/common/stats"
)

// Agreement is by how much the two may differ.
const Agreement = 0.05

// agrees says whether both are the same within Agreement, by the logarithms of the
// ratios of pairs.
func agrees(logs []float64) (said, verdict string) {
	mid, in, ok := stats.PseudoMedian(logs, 0.95)
	low, high := math.Exp(in.Lo), math.Exp(in.Hi)
	verdict = "undecided"
	switch {
	case !ok:
	case low >= 1-Agreement && high <= 1+Agreement:
		verdict = "met"
	case high < 1-Agreement || low > 1+Agreement:
		verdict = "MISSED"
	}
	return fmt.Sprintf("ratio %.3f [%.3f, %.3f] over %d pairs, goal 1 ± %.2f", math.Exp(mid), low, high, len(logs), Agreement), verdict
}
