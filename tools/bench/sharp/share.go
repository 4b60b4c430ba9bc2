package sharp

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"plimsoll/internal/common/stats"
)

// Share is how many tries came out so.
type Share struct {
	Hit int `json:"hit"`
	N   int `json:"n"`
	// Lo and Hi are its 95 % interval.
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
}

// shareOf is of windows of which some overlap: its interval is Wilson's, of as many
// tries as have nothing in common.
func shareOf(hit, n, apart int) Share {
	s := Share{Hit: hit, N: n}
	if n > 0 {
		i := stats.Wilson(int(math.Round(float64(hit)/float64(n)*float64(apart))), apart, stats.Level)
		s.Lo, s.Hi = i.Lo, i.Hi
	}
	return s
}

// shareDrawn is of windows that were drawn. However many there are, what they have of
// the scatter is what was measured, of which nu degrees of freedom tell: the interval
// is of the draws (Wilson), and reaches as far as the share would be another one if the
// scatter were at either end of its own interval. A window counts where its statistic
// is beyond z, or on either side of that where both is set.
func shareDrawn(hit, n int, z, nu float64, both bool) Share {
	s := Share{Hit: hit, N: n}
	if n == 0 {
		return s
	}
	s.Lo, s.Hi = 1, 0
	scatter := distuv.ChiSquared{K: max(1, nu)}
	draws := stats.Wilson(hit, n, stats.Level)
	for _, p := range []float64{draws.Lo, draws.Hi} {
		for _, tail := range []float64{sideOf / 2, 1 - sideOf/2} {
			f := math.Sqrt(scatter.Quantile(tail) / scatter.K)
			v := distuv.UnitNormal.CDF(f*(distuv.UnitNormal.Quantile(p)+z) - z)
			if both {
				v = 2 * distuv.UnitNormal.Survival(f*distuv.UnitNormal.Quantile(1-p/2))
			}
			s.Lo, s.Hi = min(s.Lo, v), max(s.Hi, v)
		}
	}
	return s
}

// sideOf is the chance that a 95 % interval is wrong.
const sideOf = 1 - stats.Level

// critical is where a statistic lies that is worth a one-sided chance.
func critical(chance float64) float64 { return distuv.UnitNormal.Quantile(1 - chance) }
