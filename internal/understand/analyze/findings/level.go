package findings

import (
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// A run that goes on as long as claims are open looks at them more than once.
// Each look may err, so each has its share of the level: then all of them
// together err as seldom as one look does (Bonferroni; Pocock 1977 has bounds
// that are a little closer, for looks at equal distances).

// looksOf is over how many looks a run's level is split.
func looksOf(r *analyze.Result) int { return max(1, len(r.Run.Protocol.ClaimLooks)) }

// alpha is the level of a pair, two-sided.
func (p *pair) alpha() float64 { return sample.Alpha / float64(max(1, p.looks)) }
