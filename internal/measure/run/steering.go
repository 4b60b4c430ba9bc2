package run

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"plimsoll/internal/record"
)

// Steering decides between blocks how a run goes on. It reads the record: all
// trials of the blocks before are in it, and none of a later one. What it says
// is recorded before the next trial, so that a resumed run goes on alike.
type Steering struct {
	// Pair: two environments of this run are compared with each other alone. Waits for a
	// calm machine are shorter then: see patience.
	Pair bool
	// At says whether to look after so many counted blocks; nil: never.
	At func(blocks int) bool
	// Look looks. Where the run ends for another reason it is asked once more,
	// whatever At says, with the reason in why; cells that leave don't matter then.
	Look func(blocks int, why string) (record.Look, error)
	// Say puts a look into words.
	Say func(record.Look) string
	// Foresee says what the run can find in so many blocks, once it has its first
	// ones, warm-up and all; nil or "" says nothing.
	Foresee func(blocks int) string
	// Within chooses the looks of a gate in whose time about so many blocks fit,
	// but for the last, which is when the time is up, and their shares of the level.
	Within func(blocks int) (at []int, shares []float64)
}

// foreseeFrom is from how many blocks on something can be foreseen: of the
// scatter between fewer nothing is known.
const foreseeFrom = 3

// course is where a run stands among its blocks.
type course struct {
	*runner
	block    int
	ended    bool
	reached  int    // the last block that has a trial
	open     bool   // the number of blocks is left open
	gone     []bool // by cell of the plan
	rest     []int  // trials that are planned and not done, by cell
	foreseen bool
	refused  map[int]*record.Failure // by cell: what is not tried again
	costs    costs
	spent    time.Duration // by the earlier parts of a resumed run
	further  time.Duration // by the trials of the blocks after the fixed ones
}

func (r *runner) newCourse() (*course, error) {
	p := r.rec.Protocol
	c := &course{runner: r, block: -1, refused: map[int]*record.Failure{}, gone: make([]bool, len(r.Plan.Cells)), rest: make([]int, len(r.Plan.Cells)), costs: newCosts(len(r.Plan.Cells)),
		open: p.Open() || r.rec.Gate != nil}
	for _, l := range r.rec.Looks {
		if err := c.apply(l); err != nil {
			return nil, err
		}
	}
	for i := range c.rest {
		c.rest[i] = r.Plan.TrialsOf(i)
	}
	c.reached = -1
	for _, seq := range slices.Sorted(maps.Keys(r.writer.Complete())) { // block by block
		t := r.Plan.Trial(seq)
		c.rest[t.Cell]--
		c.reached = t.Block
	}
	if r.Resume && (p.TimeBudgetNS > 0 || p.ClaimTimeNS > 0) {
		return c, c.past()
	}
	return c, nil
}

// todo counts the trials that are still to come, unless more cells leave.
func (c *course) todo() int {
	n := 0
	for i, k := range c.rest {
		if !c.gone[i] && !c.ended {
			n += k
		}
	}
	return n
}

// apply does what a look decided.
func (c *course) apply(l record.Look) error {
	c.ended = c.ended || l.Ended
	for _, x := range l.Cells {
		if !x.Left {
			continue
		}
		found := false
		for i, cell := range c.Plan.Cells {
			if c.Plan.Environments[cell.Env].ID == x.Env && c.Plan.Workloads[cell.Workload].ID == x.Workload {
				found, c.gone[i] = true, true
			}
		}
		if !found {
			return fmt.Errorf("the look after %d blocks takes %s in %s out of the run, which has no such cell", l.Blocks, x.Workload, x.Env)
		}
	}
	return nil
}

// enter comes before a trial, with its block: before the first one of a block
// is the time to look. It says whether the run goes on.
func (c *course) enter(block int) (bool, error) {
	if block == c.block {
		return true, nil
	}
	c.block = block
	done := block - c.rec.Protocol.Warmup
	last := done == c.rec.Protocol.Blocks
	if !last {
		if err := c.foresee(block); err != nil {
			return false, err
		}
	}
	if c.endedAt(done) {
		return false, nil
	}
	if !c.open || done < 1 || block <= c.reached {
		return !last, nil
	}
	why := ""
	if last {
		why = fmt.Sprintf("%d blocks are the most that you asked for", done)
		if len(c.rec.Protocol.ClaimLooks) > 0 {
			why = fmt.Sprintf("%d blocks are the most", done)
		}
	}
	if c.Steering.Look != nil && (last || c.at(done)) && !c.looked(done) {
		if err := c.look(done, why); err != nil || c.ended {
			return false, err
		}
	}
	if last {
		return false, nil
	}
	if why = c.timeIsUp(block); why == "" {
		return true, nil
	}
	if c.looked(done) {
		return false, c.end(why)
	}
	return false, c.look(done, why)
}

// looked says whether the last look came after so many blocks.
func (c *course) looked(blocks int) bool {
	n := len(c.rec.Looks)
	return n > 0 && c.rec.Looks[n-1].Blocks == blocks
}

// end makes the last look the end of the run.
func (c *course) end(why string) error {
	l := &c.rec.Looks[len(c.rec.Looks)-1]
	l.Ended, l.Why = true, why
	c.progress.Remark("the run ends here: " + why)
	return c.writer.Update(c.rec)
}

// endedAt says whether the run ended after so many blocks.
func (c *course) endedAt(blocks int) bool {
	return slices.ContainsFunc(c.rec.Looks, func(l record.Look) bool { return l.Ended && l.Blocks <= blocks })
}

// look decides, records it and says so.
func (c *course) look(blocks int, why string) error {
	l := record.Look{Rule: record.RuleTime, Blocks: blocks, Why: why}
	if c.Steering.Look != nil {
		var err error
		if l, err = c.Steering.Look(blocks, why); err != nil {
			return fmt.Errorf("the check after %d blocks: %w", blocks, err)
		}
	}
	l.At, l.Blocks = time.Now(), blocks
	l.Ended = l.Ended || why != ""
	c.rec.Looks = append(c.rec.Looks, l)
	if err := c.writer.Update(c.rec); err != nil {
		return err
	}
	if err := c.apply(l); err != nil {
		return err
	}
	if c.Steering.Say != nil {
		c.progress.Remark(c.Steering.Say(l))
	}
	c.tidy()
	return nil
}

// foresee says once what the run can find.
func (c *course) foresee(blocks int) error {
	if c.foreseen || c.Steering.Foresee == nil || blocks < max(foreseeFrom, c.rec.Protocol.Warmup) {
		return nil
	}
	c.foreseen = true
	if c.writer.Complete()[blocks*len(c.Plan.Cells)*c.rec.Protocol.PerBlock] {
		return nil // it was said before the run was cut off
	}
	fit := c.fitting(blocks)
	if g := c.rec.Gate; g != nil && g.Budget && c.Steering.Within != nil {
		g.At, g.Shares = c.Steering.Within(fit)
		g.Looks = len(g.At) + 1
		if err := c.writer.Update(c.rec); err != nil {
			return err
		}
	}
	if text := c.Steering.Foresee(fit); text != "" {
		c.progress.Remark(text)
	}
	c.tidy()
	return nil
}

// fitting is how many counted blocks the run will have, by what the first ones
// took where a time budget decides.
func (c *course) fitting(block int) int {
	most := c.rec.Protocol.Blocks
	budget := time.Duration(c.rec.Protocol.TimeBudgetNS)
	one := c.costs.round(c.gone) * time.Duration(c.rec.Protocol.PerBlock)
	if budget <= 0 || one <= 0 {
		return most
	}
	return min(most, max(1, block-c.rec.Protocol.Warmup+int((budget-c.sofar())/one)))
}

// at says whether to look after so many counted blocks.
func (c *course) at(done int) bool {
	if g := c.rec.Gate; g != nil && g.Budget {
		return slices.Contains(g.At, done)
	}
	return c.Steering.At(done)
}

// tidy collects what reading the record has left, before the next trial.
func (c *course) tidy() {
	c.sinceGC = math.MaxInt - 1 // at once
	c.between()
}

// did counts a trial of a cell.
func (c *course) did(cell, block int, took time.Duration) {
	c.rest[cell]--
	c.took(cell, block, took)
}

func (c *course) took(cell, block int, took time.Duration) {
	c.costs.add(cell, took)
	if block >= c.rec.Protocol.Warmup+c.rec.Protocol.Fixed() {
		c.further += took
	}
}

// absent says of each cell whether it has no trial in a block.
func (c *course) absent(block int) []bool {
	out := make([]bool, len(c.gone))
	for i := range out {
		out[i] = c.gone[i] || !c.Plan.Occurs(i, block)
	}
	return out
}

// left estimates the time that is left, the number of trials, of which so many are
// done, and of blocks. The first few trials tell too little: the numbers are 0 as long as
// nobody knows what a budget of time has room for, and that of blocks where it ends the run.
func (c *course) left(done int) (left time.Duration, total, blocks int) {
	todo, budget := c.todo(), time.Duration(c.rec.Protocol.TimeBudgetNS)
	total, blocks = done+todo, c.rec.Protocol.Blocks
	if c.costs.seen() >= leftFrom && todo > 0 {
		left = c.costs.of(c.rest, c.gone, func(cell int) int { return c.Plan.Cells[cell].Workload })
	}
	within := func(rest time.Duration) {
		if rest = max(0, rest); left > 0 && rest < left {
			left, total = rest, done+int(float64(todo)*float64(rest)/float64(left))
		}
	}
	if budget > 0 {
		known := left
		if within(budget - c.sofar()); known == 0 {
			return 0, 0, 0
		} else if left < known {
			blocks = 0
		}
	}
	if b := time.Duration(c.rec.Protocol.ClaimTimeNS); b > 0 && left > 0 {
		within(c.costs.of(c.fixedRest(), c.gone, func(cell int) int { return c.Plan.Cells[cell].Workload }) + b - c.further)
	}
	return left, max(total, done+1), blocks
}

// fixedRest are the trials to come of the fixed blocks, by cell.
func (c *course) fixedRest() []int {
	p := c.rec.Protocol
	out := make([]int, len(c.rest))
	for i := range out {
		cell := c.Plan.Cells[i]
		further := (p.Taken(cell.Blocks, p.Blocks, cell.Further) - p.Taken(cell.Blocks, p.Fixed(), cell.Further)) * p.PerBlock
		out[i] = max(0, c.rest[i]-further)
	}
	return out
}

// leftFrom is from how many trials on the time that is left is estimated.
const leftFrom = 5
