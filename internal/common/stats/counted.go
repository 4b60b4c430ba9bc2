package stats

import "math"

// counted are numbers of which there are too many to list, while it is quick to count
// those up to any: what pairs of sorted values come to. It remembers what was counted,
// since the numbers that one asks for lie beside each other.
type counted struct {
	n           int
	first, last float64 // the smallest and the largest
	// few is how many of them are listed rather than narrowed further.
	few int
	// upTo counts those that are at most v; list gives those above lo and at most hi,
	// n of them.
	upTo func(v float64) int
	list func(lo, hi float64, n int) []float64

	known  []counting // in no order
	listed []float64  // those behind the first below ones
	below  int
}

// counting: so many are at most v.
type counting struct {
	v float64
	n int
}

// mostNarrowed bounds the rounds by numbers; those by bits are at most 64.
const mostNarrowed = 48

// smallest is the k-th one (from 1), as sorting would find it.
func (c *counted) smallest(k int) float64 {
	if k > c.below && k <= c.below+len(c.listed) {
		return nth(c.listed, k-c.below-1)
	}
	if !(c.last-c.first < math.Inf(1)) {
		return c.byBits(k, c.first, c.last) // some are infinite: there is no middle
	}
	// The answer is in (lo, hi], below counts what is at most lo, and upto what is at
	// most hi.
	lo, hi, from, below, upto := math.Inf(-1), c.last, c.first, 0, c.n
	for _, at := range c.known {
		if at.n < k && at.v > lo {
			lo, from, below = at.v, at.v, at.n
		} else if at.n >= k && at.v < hi {
			hi, upto = at.v, at.n
		}
	}
	for round := 0; upto-below > c.few; round++ {
		// Where it would lie, were they spread evenly; every third time the middle, so
		// that no distribution defeats us.
		f := (float64(k-below) - 0.5) / float64(upto-below)
		if round%3 == 2 {
			f = 0.5
		}
		mid := from + f*(hi-from)
		if !(mid > lo && mid < hi) {
			mid = from + (hi-from)/2
		}
		if round == mostNarrowed || !(mid > lo && mid < hi) {
			return c.byBits(k, from, hi) // equal values: there is nothing to narrow
		}
		n := c.upTo(mid)
		c.known = append(c.known, counting{mid, n})
		if n >= k {
			hi, upto = mid, n
		} else {
			lo, from, below = mid, mid, n
		}
	}
	c.listed, c.below = c.list(lo, hi, upto-below), below
	return nth(c.listed, k-below-1)
}

// byBits is the same by bisection over the representable numbers between two, of which
// the k-th is one or lies between them.
func (c *counted) byBits(k int, from, to float64) float64 {
	lo, hi := ordinal(from), ordinal(to)
	for lo < hi {
		mid := lo + (hi-lo)/2
		if c.upTo(unordinal(mid)) >= k {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return unordinal(lo)
}

// ordinal maps floats to integers of the same order.
func ordinal(f float64) uint64 {
	b := math.Float64bits(f)
	if b>>63 == 1 {
		return ^b
	}
	return b | 1<<63
}

func unordinal(u uint64) float64 {
	if u>>63 == 1 {
		return math.Float64frombits(u &^ (1 << 63))
	}
	return math.Float64frombits(^u)
}
