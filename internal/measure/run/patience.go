package run

import (
	"slices"
	"time"

	"plimsoll/internal/measure/host"
)

// patience is how long the next trial may wait for a calm machine. On one that is
// busy all the time each wait is in vain: the trial then begins on a machine as busy
// as before, and of ten times as many trials the same minutes tell more. So every
// wait in vain halves the next one. Only waits decide, never what was measured.
type patience struct {
	vain int
	// pair: two environments of this run are compared with each other alone. Others at
	// work then disturb both alike, and a rare long wait is worth less than the trials
	// that it costs.
	pair bool
	took recent // trials
	had  recent // waits
}

const (
	longestWait  = 200 * time.Millisecond
	shortestWait = 5 * time.Millisecond
	// tryAgain is after how many waits in vain the longest one is tried again: what an
	// engine still does after a trial may take longer than the shortest.
	tryAgain = 20
	// pairTimes is how many times as long as a trial a pair waits at most.
	pairTimes = 2
	// rare is one of how many waits of a pair may be broken off. Who leaves work behind
	// after most of its trials is waited for in full: that work would slow down the
	// other, which has the next turn more often than itself.
	rare = 10
)

// limit of the next wait.
func (p *patience) limit() time.Duration {
	l := max(longestWait>>(p.vain%tryAgain), shortestWait)
	if !p.pair || !p.took.full() || !p.had.full() {
		return l
	}
	most := max(shortestWait, pairTimes*p.took.median())
	if p.had.over(most)*rare > remembered {
		return l
	}
	return min(l, most)
}

// ask is how to watch for a calm machine, first for so long. The windows of a pair are
// shorter: what a trial has left behind is over within a few milliseconds, and who calms
// down in one of them is not to be watched for as long again.
func (p *patience) ask(window time.Duration) host.Limit {
	l := host.Limit{Window: window, Wait: p.limit()}
	if p.pair {
		l.Window, l.Even, l.Most = window/2, 4, 2*window
	}
	return l
}

// waited tells how long it took until the machine became calm, or until the wait was
// over without that. Such a one counts as the longest: nobody knows how long it was.
func (p *patience) waited(d time.Duration, calm bool) {
	if calm {
		p.vain = 0
	} else {
		p.vain++
		d = longestWait
	}
	p.had.add(d)
}

// remembered is how many trials and waits are.
const remembered = 50

// recent are the last durations of a kind.
type recent struct {
	last [remembered]time.Duration
	n    int
}

func (r *recent) add(d time.Duration) {
	r.last[r.n%remembered] = d
	r.n++
}

func (r *recent) full() bool { return r.n >= remembered }

func (r *recent) median() time.Duration {
	sorted := r.last
	slices.Sort(sorted[:])
	return sorted[remembered/2]
}

// over counts those that are longer.
func (r *recent) over(d time.Duration) (n int) {
	for _, x := range r.last {
		if x > d {
			n++
		}
	}
	return n
}
