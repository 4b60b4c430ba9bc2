package study

import (
	"cmp"
	"time"

	"plimsoll/internal/record"
)

// The bounds of a run whose number of blocks is left open: by the width of
// intervals, and by time alone.
const (
	DefaultMaxBlocks = 80
	// ClaimRounds is how many times as many blocks as the fixed ones claims may
	// get that are not decided.
	ClaimRounds     = 4
	maxBlocksInTime = 1000
	// MostBlocks and MaxTimeBudget are the most that can be asked for.
	MostBlocks    = 100_000
	MaxTimeBudget = 720 * time.Hour
)

// Cap is the largest number of blocks of a protocol that leaves it open; asked
// is what the study or the user says, 0 for nothing.
func Cap(p record.Protocol, asked int) int {
	switch {
	case asked > 0:
		return asked
	case p.Until > 0:
		return DefaultMaxBlocks
	}
	return maxBlocksInTime
}

// ClaimLooks are the numbers of blocks after which claims are looked at: the
// fixed one, and twice as many again and again, and the most, of which 0 leaves
// it to the program. That few, and fixed beforehand: the level is split over
// them.
func ClaimLooks(fixed, most int) []int {
	most = cmp.Or(most, ClaimRounds*fixed)
	var out []int
	for b := fixed; b < most; b *= 2 {
		out = append(out, b)
	}
	return append(out, most)
}
