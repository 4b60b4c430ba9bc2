package study

import (
	"time"

	"plimsoll/internal/record"
)

// The bounds of a run whose number of blocks is left open: by the width of
// intervals, and by time alone.
const (
	DefaultMaxBlocks = 80
	maxBlocksInTime  = 1000
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
