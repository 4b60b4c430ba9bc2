package web

import "plimsoll/internal/record"

// expected is what of a plan is still to come. A nil one knows nothing.
type expected struct {
	plan    Plan
	warmup  int
	gone    []bool // done already, or it will not be done
	first   int    // the first place that is not gone
	left    int
	rest    map[cellKey]int // trials to come, by cell
	planned map[cellKey]int // trials at all, by cell
}

// expect looks through a plan: trials that looks took out are not to come.
func expect(p Plan, r *record.Run) *expected {
	e := &expected{plan: p, warmup: r.Protocol.Warmup, gone: make([]bool, p.Trials()), rest: map[cellKey]int{}, planned: map[cellKey]int{}}
	until := map[cellKey]int{} // counted blocks
	ended := -1
	for _, l := range r.Looks {
		for _, c := range l.Cells {
			if k := (cellKey{c.Env, c.Workload}); c.Left {
				until[k] = l.Blocks
			}
		}
		if l.Ended {
			ended = l.Blocks
		}
	}
	for seq := range e.gone {
		env, work, block, _ := p.Trial(seq)
		k := cellKey{env, work}
		if b, ok := until[k]; ok && block-e.warmup >= b || ended >= 0 && block-e.warmup >= ended {
			e.gone[seq] = true
			continue
		}
		e.rest[k]++
		e.planned[k]++
		e.left++
	}
	return e
}

// take notes that a trial is done.
func (e *expected) take(seq int) {
	if e == nil || seq >= len(e.gone) || e.gone[seq] {
		return
	}
	e.gone[seq] = true
	env, work, _, _ := e.plan.Trial(seq)
	e.rest[cellKey{env, work}]--
	e.left--
}

// of is how many trials of a cell there will be.
func (e *expected) of(k cellKey) int {
	if e == nil {
		return 0
	}
	return e.planned[k]
}

// next is the first trial that is to come, nil where there is none.
func (e *expected) next(r *record.Run) *Upcoming {
	for e.first < len(e.gone) && e.gone[e.first] {
		e.first++
	}
	if e.first == len(e.gone) {
		return nil
	}
	env, work, block, warmup := e.plan.Trial(e.first)
	u := &Upcoming{Env: env, Workload: work, Block: block + 1, Blocks: r.Protocol.Warmup, Warmup: warmup}
	if !warmup {
		u.Block, u.Blocks = block+1-e.warmup, r.Protocol.Blocks
	}
	return u
}
