package run

import "time"

// pace estimates the time that is left from the trials done so far. The first
// few tell too little, so it is silent until it has seen some.
type pace struct {
	begin time.Time
	n     int
	todo  int
}

const paceFrom = 5

func newPace(todo int) *pace { return &pace{begin: time.Now(), todo: todo} }

func (p *pace) done() { p.n++ }

// left is 0 while it is not known.
func (p *pace) left() time.Duration {
	if p.n < paceFrom {
		return 0
	}
	return time.Duration(float64(time.Since(p.begin)) / float64(p.n) * float64(p.todo-p.n))
}
