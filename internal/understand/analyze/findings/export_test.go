package findings

import (
	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// MatchesEnv is for the tests of the package from outside, which read whole runs.
var MatchesEnv = matchesEnv

// Simulated judges a claim of ratios by the log ratios of its pairs, as a run of
// so many looks does: its verdict, and which pairs get further blocks if it can
// still get so many times as many.
func Simulated(logs [][]float64, stated record.Range, looks int, rounds float64) (analyze.ClaimVerdict, []bool) {
	pairs := make([]pair, len(logs))
	for i := range pairs {
		pairs[i] = pair{sample: sample.Sample{X: logs[i], Paired: true}, bounds: boundsOf(&stated, true), looks: looks}
	}
	judgePairs(pairs)
	v, _ := verdictOf(pairs)
	stays := make([]bool, len(pairs))
	if v != analyze.ClaimInconclusive {
		return v, stays
	}
	open, _ := worth(pairs, rounds)
	for _, p := range open {
		for i := range pairs {
			stays[i] = stays[i] || p == &pairs[i]
		}
	}
	return v, stays
}

// FailuresSimulated judges a claim of failed trials likewise.
func FailuresSimulated(failed, trials int, stated record.Range, looks int) analyze.ClaimVerdict {
	in := stats.Wilson(failed, trials, 1-sample.Alpha/float64(looks))
	pairs := []pair{{counted: &counted{failed: failed, trials: trials, share: stats.Interval{Lo: 100 * in.Lo, Hi: 100 * in.Hi}}, bounds: boundsOf(&stated, false), looks: looks}}
	judgePairs(pairs)
	v, _ := verdictOf(pairs)
	return v
}
