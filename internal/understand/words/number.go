package words

import (
	"math"
	"strconv"
	"strings"

	"plimsoll/internal/understand/analyze/sample"
)

// Number is an estimate ready to be put into a column: with as many digits as
// its interval deserves, and "[lo, hi]" where it has one.
type Number struct{ Value, Interval string }

// String is the value with its interval.
func (n Number) String() string { return strings.TrimSpace(n.Value + " " + n.Interval) }

// Full is as many decimals as a Number ever has.
const Full = 6

// NumberOf writes an estimate, divided by a unit's By. Decimals beyond most are
// not shown.
func NumberOf(e sample.Estimate, by float64, most int) Number {
	v := e.Value / by
	if e.Lo == nil || e.Hi == nil {
		return Number{Value: Fixed(v, min(most, digits(v, v, v)))}
	}
	lo, hi := *e.Lo/by, *e.Hi/by
	d := min(most, digits(v, lo, hi))
	n := Number{Fixed(v, d), "[" + Fixed(lo, d) + ", " + Fixed(hi, d) + "]"}
	if place := int(math.Floor(math.Log10(math.Abs(v)))); v != 0 && (lo >= 0 || hi <= 0) && strings.Trim(n.Value, "-0.") == "" && -place <= most {
		n.Value = Fixed(v, -place) // a value that is not 0 does not read as 0, unless its interval has both signs
	}
	return n
}

// Estimate shows an estimate with its unit and its interval, where it has one.
func Estimate(e sample.Estimate, unit string) string {
	u := UnitFor(unit, []float64{e.Value})
	n := NumberOf(e, u.By, Full)
	return strings.Join(strings.Fields(n.Value+" "+u.Name+" "+n.Interval), " ")
}

// Amount shows a single value with its unit, in the multiple of the unit that
// reads best, with three significant digits.
func Amount(v float64, unit string) string {
	u := UnitFor(unit, []float64{v})
	v /= u.By
	return Fixed(v, digits(v, v, v)) + " " + u.Name
}

// Fixed writes v with d decimals, or shortly where it is huge.
func Fixed(v float64, d int) string {
	if math.Abs(v) >= 1e7 {
		return strconv.FormatFloat(v, 'e', 2, 64)
	}
	s := strconv.FormatFloat(v, 'f', d, 64)
	if strings.Trim(s, "-0.") == "" {
		s = strings.TrimPrefix(s, "-") // no minus zero
	}
	return s
}

// Short writes v without zeros at its end.
func Short(v float64) string {
	s := Fixed(v, Full)
	if strings.Contains(s, ".") && !strings.Contains(s, "e") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// TwoDigits shows two significant digits.
func TwoDigits(v float64) string {
	if v == 0 {
		return "0"
	}
	return Fixed(v, max(0, 1-int(math.Floor(math.Log10(math.Abs(v))))))
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
		if lo == hi || Fixed(lo, d) != Fixed(hi, d) {
			break
		}
		d++
	}
	return min(d, Full)
}

// Factor writes how many times as much, as people say it: with two or three digits.
func Factor(v float64) string {
	switch {
	case v >= 9.95:
		return Fixed(v, 0)
	case v >= 1.995:
		return Fixed(v, 1)
	case v >= 0.095:
		return Fixed(v, 2)
	}
	return TwoDigits(v)
}
