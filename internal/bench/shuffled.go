package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
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
