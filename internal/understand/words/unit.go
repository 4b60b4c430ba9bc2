package words

import "math"

// Unit is one in which stored values are shown: each is divided by By.
type Unit struct {
	Name string
	By   float64
}

var (
	times = []Unit{{"ns", 1}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}}
	sizes = []Unit{{"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}}
	rates = []Unit{{"B/s", 1}, {"KiB/s", 1 << 10}, {"MiB/s", 1 << 20}, {"GiB/s", 1 << 30}}
	bits  = []Unit{{"bit/s", 1}, {"kbit/s", 1e3}, {"Mbit/s", 1e6}, {"Gbit/s", 1e9}}
)

// UnitFor chooses one unit for all the values of a column: the one in which
// their geometric middle is 1 to 1000, or larger where the largest would have
// more than four digits before the point.
func UnitFor(stored string, values []float64) Unit {
	units := []Unit{{stored, 1}}
	switch stored {
	case "ns":
		units = times
	case "bytes", "B":
		units = sizes
	case "bytes/s", "B/s":
		units = rates
	case "bit/s":
		units = bits
	}
	sum, n, most := 0.0, 0, 0.0
	for _, v := range values {
		if v = math.Abs(v); v > 0 {
			sum += math.Log(v)
			n++
			most = max(most, v)
		}
	}
	if n == 0 {
		return units[0]
	}
	mid := math.Exp(sum / float64(n))
	u := units[0]
	for _, next := range units[1:] {
		// The hair's breadth makes up for the rounding of the logarithm.
		if mid*(1+1e-9) >= next.By || most/u.By >= 1e4 {
			u = next
		}
	}
	return u
}
