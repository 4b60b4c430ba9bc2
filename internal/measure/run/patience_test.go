package run

import (
	"testing"
	"time"
)

// TestPatience: on a machine that is never calm the waits are a tenth of the longest
// on average, and one that became calm is waited for as long as before.
func TestPatience(t *testing.T) {
	var p patience
	var sum time.Duration
	longest := 0
	const trials = 10 * tryAgain
	for range trials {
		l := p.limit()
		if sum += l; l == longestWait {
			longest++
		}
		p.waited(false)
	}
	if mean := sum / trials; mean > longestWait/8 || mean < shortestWait || longest != trials/tryAgain {
		t.Errorf("%v on average, %d of %d in full", mean, longest, trials)
	}
	p.waited(false)
	if p.waited(true); p.limit() != longestWait {
		t.Errorf("%v after a wait that was not in vain", p.limit())
	}
}
