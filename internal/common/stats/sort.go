package stats

import (
	"math"
	"slices"
)

const digitBits, digits, manySorted = 11, 3, 1000

// Sort sorts x as slices.Sort does. Many values are first distributed by the highest
// digits of their bits, from the last of these to the first (Knuth, The Art of Computer
// Programming 3, 5.2.5), which leaves little to sort.
func Sort(x []float64) {
	if !slices.IsSorted(x) && len(x) >= manySorted && len(x) <= math.MaxInt32 {
		distribute(x)
		for i, moves := 1, len(x); i < len(x) && moves > 0; i++ {
			for k := i; k > 0 && x[k-1] > x[k]; k-- {
				x[k-1], x[k] = x[k], x[k-1]
				moves--
			}
		}
	}
	slices.Sort(x)
}

func distribute(x []float64) {
	digit := func(v float64, d int) uint64 {
		return ordinal(v) >> (64 - (digits-d)*digitBits) & (1<<digitBits - 1)
	}
	var places [digits][1 << digitBits]int32 // how many values have a digit, then where the next one goes
	for _, v := range x {
		for d := range places {
			places[d][digit(v, d)]++
		}
	}
	from, to := x, make([]float64, len(x))
	for d := range places {
		next, place := int32(0), &places[d]
		for i, n := range place {
			place[i], next = next, next+n
		}
		for _, v := range from {
			at := &place[digit(v, d)]
			to[*at] = v
			*at++
		}
		from, to = to, from
	}
	copy(x, from)
}
