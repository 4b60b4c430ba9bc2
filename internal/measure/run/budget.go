package run

import (
	"fmt"
	"time"

	"plimsoll/internal/record"
)

// costs is what trials took, by cell: all of it, waiting and clean-up too.
type costs struct {
	sum []time.Duration
	n   []int
}

func newCosts(cells int) costs { return costs{make([]time.Duration, cells), make([]int, cells)} }

func (c costs) add(cell int, took time.Duration) {
	c.sum[cell] += took
	c.n[cell]++
}

// round estimates what one trial of each cell takes that is not gone. A cell
// that has not run counts as the mean of those that have.
func (c costs) round(gone []bool) time.Duration {
	var sum, all time.Duration
	n, unknown := 0, 0
	for i := range c.sum {
		all += c.sum[i]
		n += c.n[i]
		switch {
		case gone[i]:
		case c.n[i] == 0:
			unknown++
		default:
			sum += c.sum[i] / time.Duration(c.n[i])
		}
	}
	if n > 0 {
		sum += all / time.Duration(n) * time.Duration(unknown)
	}
	return sum
}

// seen is how many trials it knows.
func (c costs) seen() int {
	sum := 0
	for _, n := range c.n {
		sum += n
	}
	return sum
}

// of estimates what so many trials of each cell take that is not gone. A cell
// that has not run counts as the mean of its workload, else as that of all.
func (c costs) of(trials []int, gone []bool, workload func(cell int) int) time.Duration {
	type mean struct {
		sum time.Duration
		n   int
	}
	var all mean
	works := map[int]mean{}
	for i := range c.sum {
		w := workload(i)
		works[w] = mean{works[w].sum + c.sum[i], works[w].n + c.n[i]}
		all = mean{all.sum + c.sum[i], all.n + c.n[i]}
	}
	var left time.Duration
	for i, k := range trials {
		if gone[i] {
			continue
		}
		m := mean{c.sum[i], c.n[i]}
		if m.n == 0 {
			m = works[workload(i)]
		}
		if m.n == 0 {
			m = all
		}
		left += time.Duration(float64(k) * float64(m.sum) / float64(max(1, m.n)))
	}
	return left
}

// past reads from the record what the earlier parts of a resumed run took.
// Each began with its start or a resume and ended with its last trial, as far
// as is known: whatever the way it ended.
func (c *course) past() error {
	r, err := record.Open(c.Dir)
	if err != nil {
		return err
	}
	starts := append([]time.Time{c.rec.Started}, c.rec.Resumed...)
	part, before := 0, c.rec.Started
	cell, block := -1, 0
	for t, err := range r.Trials() {
		if err != nil {
			return err
		}
		for part+1 < len(starts) && !t.At.Before(starts[part+1]) {
			part++
			before, cell = starts[part], -1
		}
		if d := t.At.Sub(before); d > 0 {
			c.spent += d
			if cell >= 0 {
				c.took(cell, block, d)
			}
		}
		of := c.Plan.Trial(t.Seq)
		before, cell, block = t.At, of.Cell, of.Block
	}
	return nil
}

// sofar is what the run has taken.
func (c *course) sofar() time.Duration { return c.spent + time.Since(c.begun) }

// timeIsUp says why a block is not begun; "" where it is.
func (c *course) timeIsUp(block int) string {
	p := c.rec.Protocol
	budget, claims := time.Duration(p.TimeBudgetNS), time.Duration(p.ClaimTimeNS)
	if block < p.Warmup+p.Fixed() {
		claims = 0
	}
	if budget <= 0 && claims <= 0 {
		return ""
	}
	gone := c.gone
	if claims > 0 {
		gone = c.absent(block)
	}
	next := c.costs.round(gone) * time.Duration(p.PerBlock)
	switch {
	case budget > 0 && c.sofar()+next > budget:
		return fmt.Sprintf("another block, of about %s, would not fit into the %s that the run may take", round(next), budget)
	case claims > 0 && c.further+next > claims:
		return fmt.Sprintf("another block, of about %s, would not fit into the %s that the blocks for open claims may take", round(next), claims)
	}
	return ""
}

// round leaves two or three digits of a time.
func round(d time.Duration) time.Duration {
	for unit := time.Duration(1); ; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit)
		}
	}
}
