package stats

import "math"

// counted are numbers of which there are too many to list, while it is quick to count
// those up to any: what pairs of sorted values come to. It remembers what was listed,
// since some of the numbers that one asks for lie beside each other.
type counted struct {
	n           int
	first, last float64 // the smallest and the largest
	// few is how many of them are listed rather than narrowed further.
	few int
	// upTo counts those that are at most v; list gives those above lo and at most hi, but
	// no more than n.
	upTo func(v float64) int
	list func(lo, hi float64, n int) []float64
	// near are those of groups of values, nil where there are few: each lies close to the
	// one that as large a share of all is below.
	near *counted

	listed []float64 // those behind the first below ones
	below  int
}

// mostNarrowed bounds the rounds by numbers; those by bits are at most 64.
const mostNarrowed = 48

// smallest is the k-th one (from 1), as sorting would find it.
func (c *counted) smallest(k int) float64 {
	if finite := c.last-c.first < math.Inf(1); c.lists(k) || c.near != nil && finite && c.approach(k) {
		return nth(c.listed, k-c.below-1)
	} else if !finite {
		return c.byBits(k, c.first, c.last) // some are infinite: there is no middle
	}
	// The answer is in (lo, hi], below counts what is at most lo, and upto what is at
	// most hi.
	lo, hi, from, below, upto := math.Inf(-1), c.last, c.first, 0, c.n
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
		if n := c.upTo(mid); n >= k {
			hi, upto = mid, n
		} else {
			lo, from, below = mid, mid, n
		}
	}
	c.listed, c.below = c.list(lo, hi, upto-below), below
	return nth(c.listed, k-below-1)
}

func (c *counted) lists(k int) bool { return k > c.below && k <= c.below+len(c.listed) }

// approach lists what is between where the k-th should be by those near and, by how many
// places that is off, a little behind it. It says whether the k-th is there.
func (c *counted) approach(k int) bool {
	by := func(k int) float64 {
		return c.near.smallest(min(max(int(float64(k)/float64(c.n)*float64(c.near.n)), 1), c.near.n))
	}
	at := by(k)
	n := c.upTo(at)
	behind := c.few / 16
	if n >= k {
		behind = -behind
	}
	to := by(k + k - n + behind)
	list := c.list(min(at, to), max(at, to), c.few+1)
	if len(list) > c.few {
		return false // it may be many times as long
	}
	c.listed, c.below = list, n
	if n >= k {
		c.below -= len(list)
	}
	return c.lists(k)
}

// Those near are of groups of so many values, where there are that many.
const together, groupFrom = 8, 1000

// groups gives the middle of each group of sorted values.
func groups(sorted []float64) []float64 {
	out := make([]float64, 0, len(sorted)/together)
	for i := together / 2; i < len(sorted); i += together {
		out = append(out, average(sorted[i-1], sorted[i]))
	}
	return out
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
	return b ^ (uint64(int64(b)>>63) | 1<<63)
}

func unordinal(u uint64) float64 { return math.Float64frombits(u ^ ((u>>63 - 1) | 1<<63)) }
