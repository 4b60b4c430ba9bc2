package report

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"plimsoll/internal/understand/analyze/sample"
)

// scale turns stored values into the unit of a column.
type scale struct {
	unit string
	by   float64
}

var (
	times = []scale{{"ns", 1}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}}
	sizes = []scale{{"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}}
	rates = []scale{{"B/s", 1}, {"KiB/s", 1 << 10}, {"MiB/s", 1 << 20}, {"GiB/s", 1 << 30}}
	bits  = []scale{{"bit/s", 1}, {"kbit/s", 1e3}, {"Mbit/s", 1e6}, {"Gbit/s", 1e9}}
)

// scaleFor chooses one unit for all the values of a column: the one in which
// their geometric middle is 1 to 1000, or larger where the largest would have
// more than four digits before the point.
func scaleFor(unit string, values []float64) scale {
	units := []scale{{unit, 1}}
	switch unit {
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
	s := units[0]
	for _, u := range units[1:] {
		// The hair's breadth makes up for the rounding of the logarithm.
		if mid*(1+1e-9) >= u.by || most/s.by >= 1e4 {
			s = u
		}
	}
	return s
}

// digits is the number of decimals that an estimate deserves: as many as
// make a step of the last digit at most half of the interval's half-width,
// but two or three significant digits (three where there is no interval),
// and more only to keep the ends of a very narrow interval apart.
func digits(v, lo, hi float64) int {
	half := (hi - lo) / 2
	size := max(math.Abs(v), half)
	if size == 0 {
		return 2
	}
	place := int(math.Floor(math.Log10(size)))
	d := 2 - place
	if half > 0 {
		d = int(math.Ceil(-math.Log10(half / 2)))
		d = min(max(d, 1-place), 2-place)
	}
	d = max(0, d)
	for range 2 {
		if lo == hi || fixed(lo, d) != fixed(hi, d) {
			break
		}
		d++
	}
	return min(d, 6)
}

// fixed writes v with d decimals, or shortly where it is huge.
func fixed(v float64, d int) string {
	if math.Abs(v) >= 1e7 {
		return strconv.FormatFloat(v, 'e', 2, 64)
	}
	s := strconv.FormatFloat(v, 'f', d, 64)
	if strings.Trim(s, "-0.") == "" {
		s = strings.TrimPrefix(s, "-") // no minus zero
	}
	return s
}

// number is an estimate ready to be put into a column.
type number struct{ value, interval string }

// format2 shows two significant digits.
func format2(v float64) string {
	if v == 0 {
		return "0"
	}
	return fixed(v, max(0, 1-int(math.Floor(math.Log10(math.Abs(v))))))
}

// numberOf formats an estimate in a unit. Decimals beyond most are not shown.
func numberOf(e sample.Estimate, by float64, most int) number {
	v := e.Value / by
	if e.Lo == nil || e.Hi == nil {
		return number{value: fixed(v, min(most, digits(v, v, v)))}
	}
	lo, hi := *e.Lo/by, *e.Hi/by
	d := min(most, digits(v, lo, hi))
	return number{fixed(v, d), "[" + fixed(lo, d) + ", " + fixed(hi, d) + "]"}
}

// align pads strings so that their decimal points stand in one column.
func align(values []string) []string {
	left, right := 0, 0
	for _, v := range values {
		whole, frac := splitPoint(v)
		left, right = max(left, width(whole)), max(right, width(frac))
	}
	out := make([]string, len(values))
	for i, v := range values {
		if v == "" {
			continue
		}
		whole, frac := splitPoint(v)
		out[i] = pad(whole, left, true) + pad(frac, right, false)
	}
	return out
}

// splitPoint cuts a number before its decimal point.
func splitPoint(s string) (whole, frac string) {
	if i := strings.IndexByte(s, '.'); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

func width(s string) int { return utf8.RuneCountInString(s) }

// pad fills s with blanks up to n characters.
func pad(s string, n int, right bool) string {
	if k := n - width(s); k > 0 {
		if right {
			return strings.Repeat(" ", k) + s
		}
		return s + strings.Repeat(" ", k)
	}
	return s
}
