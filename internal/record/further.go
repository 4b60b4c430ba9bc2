package record

import "math"

// Fixed is the number of blocks that are measured whatever is found: all, unless
// claims are looked at after them.
func (p *Protocol) Fixed() int {
	if len(p.ClaimLooks) > 0 {
		return p.ClaimLooks[0]
	}
	return p.Blocks
}

// Unlooked leaves the fixed blocks, and no looks at claims after them.
func (p *Protocol) Unlooked() {
	p.Blocks, p.ClaimLooks, p.ClaimTimeNS = p.Fixed(), nil, 0
}

// Open says whether the number of blocks was left open.
func (p *Protocol) Open() bool {
	return p.Until > 0 || p.TimeBudgetNS > 0 || len(p.ClaimLooks) > 0
}

// Span is of counted blocks, from the first to before the last.
type Span struct{ From, To int }

// Spans are the counted blocks that a cell is in, which is in the first so many
// of the fixed ones (0: all). Between two looks at the claims a cell that they
// need, for which further is true, is in the first blocks again, in the same
// share of them: a look at twice the blocks finds twice as many of each cell.
func (p *Protocol) Spans(of int, further bool) []Span {
	if len(p.ClaimLooks) == 0 {
		if of <= 0 {
			of = math.MaxInt
		}
		return []Span{{0, of}}
	}
	fixed := p.Fixed()
	if of <= 0 || of > fixed {
		of = fixed
	}
	out := []Span{{0, of}}
	for k := 1; further && k < len(p.ClaimLooks); k++ {
		from, to := p.ClaimLooks[k-1], p.ClaimLooks[k]
		out = append(out, Span{from, from + (of*(to-from)+fixed-1)/fixed})
	}
	return out
}

// Occurs says whether such a cell is in a block.
func (p *Protocol) Occurs(of, block int, further bool) bool {
	for _, s := range p.Spans(of, further) {
		if s.From <= block && block < s.To {
			return true
		}
	}
	return false
}

// Taken is in how many of the first counted blocks it is.
func (p *Protocol) Taken(of, blocks int, further bool) int {
	n := 0
	for _, s := range p.Spans(of, further) {
		n += max(0, min(blocks, s.To)-s.From)
	}
	return n
}
