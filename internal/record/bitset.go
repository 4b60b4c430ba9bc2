package record

// bitset is a set of small numbers, at most MaxSeq: an eighth of a byte each,
// so that a million trials cost 128 kB.
type bitset []uint64

// add says whether n is new.
func (b *bitset) add(n int) bool {
	i, bit := n/64, uint64(1)<<(n%64)
	for len(*b) <= i {
		*b = append(*b, make([]uint64, i+1-len(*b))...)
	}
	if (*b)[i]&bit != 0 {
		return false
	}
	(*b)[i] |= bit
	return true
}
