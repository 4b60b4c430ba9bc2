package run

import "time"

// pace estimates the time that is left from the trials done so far. The first
// few tell too little, so it is silent until it has seen some.
type pace struct {
	begin time.Time
	n     int
}

const paceFrom = 5

func newPace() *pace { return &pace{begin: time.Now()} }

func (p *pace) done() { p.n++ }

// each is what a trial takes; 0 while it is not known.
func (p *pace) each() time.Duration {
	if p.n < paceFrom {
		return 0
	}
	return time.Since(p.begin) / time.Duration(p.n)
}
