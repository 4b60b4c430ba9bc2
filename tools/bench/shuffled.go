package main

import "math/rand/v2"

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
