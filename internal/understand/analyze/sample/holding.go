package sample

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"plimsoll/internal/common/stats"
)

// Holding is the log ratio with an interval that holds the truth at this level, where
// that of Estimate leaves half of the rest beyond each end, as a gate asks. The two
// differ where the truth may be anywhere in a set: it can't be at both ends of it, so
// that, the further they are apart, each may leave nearly all of the rest beyond itself
// (Imbens & Manski 2004). How far they are apart is estimated too: by what they are at
// least (Apart), nothing is lost where that is 0 (Stoye 2009).
func (s Sample) Holding(level float64) (center float64, i stats.Interval, method string, ok bool) {
	center, i, method, ok = s.Estimate(level)
	if se := s.scatter(); ok && se > 0 {
		center, i, method, ok = s.Estimate(2*distuv.UnitNormal.CDF(endOf(level, s.Apart/se)) - 1)
	}
	return center, i, method, ok
}

// HoldingP is the p of the test by which a shift is outside that interval.
func (s Sample) HoldingP(shift float64, t Test) float64 {
	p := s.P(shift, t)
	se := s.scatter()
	if math.IsNaN(p) || p >= 1 || se == 0 {
		return p
	}
	z := distuv.UnitNormal.Quantile(1 - p/2)
	return p/2 + distuv.UnitNormal.Survival(z+s.Apart/se)
}

// scatter is the standard error of the blocks; 0 where the ends of the set are not known
// to lie apart, or where the interval is of the scatter between runs in place of one.
func (s Sample) scatter() float64 {
	if s.Apart <= 0 || s.Runs != nil {
		return 0
	}
	_, i, _, ok := s.estimate(stats.Level)
	if !ok {
		return 0
	}
	return i.Width() / 2 / distuv.UnitNormal.Quantile(1-Alpha/2)
}

// endOf is by how many standard errors an interval reaches beyond each end of a set that
// is so many of them wide, to hold what lies at one of them at the level.
func endOf(level, width float64) float64 {
	least, most := distuv.UnitNormal.Quantile(level), distuv.UnitNormal.Quantile(1-(1-level)/2)
	for range 40 {
		if c := (least + most) / 2; distuv.UnitNormal.CDF(c+width)-distuv.UnitNormal.CDF(-c) < level {
			least = c
		} else {
			most = c
		}
	}
	return most
}
