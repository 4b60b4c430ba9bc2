package bisection

import (
	"fmt"
	"iter"
	"math/bits"
)

// MostCommits is how many commits a range can have: the ancestors of each are kept.
const MostCommits = 20_000

// Range is the commits after the good end, up to the bad one, which is the last.
type Range struct {
	// Parents are those of each commit that are in the range, by index: each comes
	// before its children.
	Parents [][]int

	behind []bitset
}

// NewRange is that of commits in this order. The error says what is wrong with it.
func NewRange(parents [][]int) (*Range, error) {
	n := len(parents)
	switch {
	case n == 0:
		return nil, fmt.Errorf("no commit lies between the good and the bad end")
	case n > MostCommits:
		return nil, fmt.Errorf("%d commits lie between the good and the bad end, and at most %d can be searched", n, MostCommits)
	}
	r := &Range{Parents: parents, behind: make([]bitset, n)}
	for c, ps := range parents {
		b := newBitset(n)
		for _, p := range ps {
			if p < 0 || p >= c {
				return nil, fmt.Errorf("commit %d of the range comes before its parent", c)
			}
			b.add(r.behind[p])
		}
		b[c/64] |= 1 << (c % 64)
		r.behind[c] = b
	}
	return r, nil
}

// ancestors are a commit and all that it comes after.
func (r *Range) ancestors(c int) bitset { return r.behind[c] }

// all is what can be the first bad one: the bad end and all that it comes after.
func (r *Range) all() bitset { return r.behind[len(r.Parents)-1].and(r.behind[len(r.Parents)-1]) }

// bitset is a set of commits.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (b bitset) has(c int) bool { return b[c/64]>>(c%64)&1 == 1 }

func (b bitset) add(o bitset) {
	for i := range b {
		b[i] |= o[i]
	}
}

// and is a new set of what is in both.
func (b bitset) and(o bitset) bitset {
	out := make(bitset, len(b))
	for i := range b {
		out[i] = b[i] & o[i]
	}
	return out
}

// without is a new set of what is in b alone.
func (b bitset) without(o bitset) bitset {
	out := make(bitset, len(b))
	for i := range b {
		out[i] = b[i] &^ o[i]
	}
	return out
}

func (b bitset) count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// each gives the commits of the set, in their order.
func (b bitset) each() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, w := range b {
			for ; w != 0; w &= w - 1 {
				if !yield(i*64 + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}
