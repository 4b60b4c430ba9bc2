package study

import (
	"iter"
	"math/bits"
	"math/rand/v2"
	"sort"
	"sync"

	"plimsoll/internal/record"
)

// Algorithm names how the order follows from the seed. It is recorded, and it
// never changes: another algorithm would get another name.
//
// Block b of a plan, in which n trials occur, is the permutation that Fisher and
// Yates's shuffle (Durstenfeld 1964, from the top down) makes of 0…n-1, with
// numbers below a bound by Lemire's method (ACM TOMACS 29, 2019) from PCG-DXSM
// (Go's math/rand/v2.PCG) seeded with (seed, mix(b)), mix being the finaliser
// of SplitMix64 (Steele, Lea, Flood 2014) on (b+1)·0x9e3779b97f4a7c15. The
// shuffle is ours because the standard library promises the numbers of PCG but
// not how Shuffle uses them.
const Algorithm = "pcg-dxsm/fisher-yates/1"

// Trial is one execution, as planned.
type Trial struct {
	// Seq is its place in the plan, from 0.
	Seq int
	// Block counts from 0 over the warm-up blocks and then the others.
	Block  int
	Warmup bool
	// Cell is the index of the cell in the plan; Repetition counts the trials
	// of this cell in this block, from 0.
	Cell, Repetition int
	Env              *record.Environment
	Workload         *record.Workload
}

// Trials is the number of trials of the whole plan, warm-up and all.
func (p *Plan) Trials() int {
	starts := p.cache.starts(p)
	return starts[len(starts)-1]
}

// TrialsOf is the number of trials of one cell, warm-up and all.
func (p *Plan) TrialsOf(cell int) int {
	return p.trialsIn(p.Cells[cell], p.Protocol.Blocks)
}

// trialsIn is the number of a cell's trials in the first counted blocks, warm-up
// and all.
func (p *Plan) trialsIn(c Cell, blocks int) int {
	blocks = p.Protocol.Taken(c.Blocks, blocks, c.Further)
	if c.occurs(&p.Protocol, -1) {
		blocks += p.Protocol.Warmup
	}
	return max(0, blocks) * p.Protocol.PerBlock
}

// Trial gives the trial at a place from 0 to Trials()-1: a pure function of
// the plan and its seed.
func (p *Plan) Trial(seq int) Trial {
	starts := p.cache.starts(p)
	block := sort.SearchInts(starts, seq+1) - 1
	cells, slots := p.cache.block(p, block)
	slot := int(slots[seq-starts[block]])
	cell := cells[slot%len(cells)]
	return Trial{
		Seq: seq, Block: block, Warmup: block < p.Protocol.Warmup,
		Cell: cell, Repetition: slot / len(cells),
		Env:      &p.Environments[p.Cells[cell].Env],
		Workload: &p.Workloads[p.Cells[cell].Workload],
	}
}

// Occurs says whether a cell has trials in a block.
func (p *Plan) Occurs(cell, block int) bool {
	return p.Cells[cell].occurs(&p.Protocol, block-p.Protocol.Warmup)
}

// occurring lists the cells of a block: of the counted blocks, a cell may occur
// in the first so many only.
func (p *Plan) occurring(block int) []int {
	out := make([]int, 0, len(p.Cells))
	for i, c := range p.Cells {
		if c.occurs(&p.Protocol, block-p.Protocol.Warmup) {
			out = append(out, i)
		}
	}
	return out
}

// From gives the trials in their order, beginning with a place.
func (p *Plan) From(seq int) iter.Seq[Trial] {
	return func(yield func(Trial) bool) {
		for ; seq < p.Trials(); seq++ {
			if !yield(p.Trial(seq)) {
				return
			}
		}
	}
}

// blockCache keeps where the blocks begin, and the order of the last block
// asked for.
type blockCache struct {
	mu    sync.Mutex
	of    shape
	begin []int
	n     int
	cells []int
	slots []int32
}

// shape is what the places of the trials depend on, but for the cells, whose
// change clears the cache.
type shape struct{ cells, perBlock, warmup, blocks, fixed int }

// starts gives the place of each block's first trial, and after them the
// number of all trials.
func (c *blockCache) starts(p *Plan) []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := p.Protocol
	if of := (shape{len(p.Cells), q.PerBlock, q.Warmup, q.Blocks, q.Fixed()}); c.begin == nil || c.of != of {
		type kind struct {
			blocks  int
			further bool
		}
		kinds, warmed := map[kind]int{}, 0
		for _, cell := range p.Cells {
			kinds[kind{cell.Blocks, cell.Further}]++
			if cell.occurs(&q, -1) {
				warmed++
			}
		}
		turn := map[int]int{} // by how many cells a block has more than the one before
		for k, n := range kinds {
			for _, s := range q.Spans(k.blocks, k.further) {
				turn[s.From] += n
				turn[s.To] -= n
			}
		}
		c.of, c.slots, c.begin = of, nil, []int{0}
		at, n := 0, 0
		for b := range max(0, q.Warmup+q.Blocks) {
			if b < q.Warmup {
				at += warmed * q.PerBlock
			} else {
				n += turn[b-q.Warmup]
				at += n * q.PerBlock
			}
			c.begin = append(c.begin, at)
		}
	}
	return c.begin
}

// block gives a block's cells, and its slots in their order.
func (c *blockCache) block(p *Plan, n int) (cells []int, slots []int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.slots == nil || c.n != n {
		c.n, c.cells, c.slots = n, p.occurring(n), p.order(n)
	}
	return c.cells, c.slots
}

func (c *blockCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begin, c.slots = nil, nil
}

// order gives the slots of a block in their order; slot s is repetition
// s / cells of cell s % cells, of the cells that occur in the block.
func (p *Plan) order(block int) []int32 {
	slots := make([]int32, len(p.occurring(block))*p.Protocol.PerBlock)
	for i := range slots {
		slots[i] = int32(i)
	}
	if p.Protocol.Order == "sequential" {
		return slots
	}
	src := rand.NewPCG(p.Protocol.Seed, mix(uint64(block)))
	for i := len(slots) - 1; i > 0; i-- {
		j := below(src, uint64(i+1))
		slots[i], slots[j] = slots[j], slots[i]
	}
	return slots
}

// mix spreads the block's number over all bits, so that neighbouring blocks
// start at unrelated places.
func mix(block uint64) uint64 {
	z := (block + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below gives a number from 0 to n-1, each with the same probability.
func below(src *rand.PCG, n uint64) uint64 {
	hi, lo := bits.Mul64(src.Uint64(), n)
	if lo < n {
		for reject := -n % n; lo < reject; {
			hi, lo = bits.Mul64(src.Uint64(), n)
		}
	}
	return hi
}
