package run

import "time"

// patience is how long the next trial may wait for a calm machine. On one that is
// busy all the time each wait is in vain: the trial then begins on a machine as busy
// as before, and of ten times as many trials the same minutes tell more. So every
// wait in vain halves the next one. Only waits decide, never what was measured.
type patience struct{ vain int }

const (
	longestWait  = 200 * time.Millisecond
	shortestWait = 5 * time.Millisecond
	// tryAgain is after how many waits in vain the longest one is tried again: what an
	// engine still does after a trial may take longer than the shortest.
	tryAgain = 20
)

// limit of the next wait.
func (p *patience) limit() time.Duration {
	return max(longestWait>>(p.vain%tryAgain), shortestWait)
}

// waited tells whether the machine became calm.
func (p *patience) waited(calm bool) {
	if calm {
		p.vain = 0
	} else {
		p.vain++
	}
}
