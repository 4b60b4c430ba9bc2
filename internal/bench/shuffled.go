package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"plimsoll/internal/common/stats"
)

// shuffled takes turns in random order, up to the first that fails: what drifts with
// the machine falls on both alike.
func shuffled(turns []func() error) error {
	rand.Shuffle(len(turns), func(i, k int) { turns[i], turns[k] = turns[k], turns[i] })
	for _, f := range turns {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// pairsAsked is how many pairs the command line asks for.
func pairsAsked(args []string, usual int) (int, error) {
	if len(args) == 0 {
		return usual, nil
	}
	pairs, err := strconv.Atoi(args[0])
	if err != nil || pairs < 6 {
		return 0, fmt.Errorf("%q is no number of pairs, 6 or more", args[0])
	}
	return pairs, nil
}

// agrees says whether both are the same within agreement, by the logarithms of the
// ratios of pairs.
func agrees(logs []float64) (said, verdict string) {
	mid, in, ok := stats.PseudoMedian(logs, 0.95)
	low, high := math.Exp(in.Lo), math.Exp(in.Hi)
	verdict = "undecided"
	switch {
	case !ok:
	case low >= 1-agreement && high <= 1+agreement:
		verdict = "met"
	case high < 1-agreement || low > 1+agreement:
		verdict = "MISSED"
	}
	return fmt.Sprintf("ratio %.3f [%.3f, %.3f] over %d pairs, goal 1 ± %.2f", math.Exp(mid), low, high, len(logs), agreement), verdict
}
