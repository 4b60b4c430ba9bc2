package sharp

import (
	"math"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/understand/analyze/gate"
	"plimsoll/internal/understand/analyze/sample"
)

// Need is how long each takes to find a change in nine of ten tries, by how its
// estimates scatter from window to window: what the values of one window say of that
// is too little on a machine that drifts.
//
// What one change came to is off by as much as a window scatters, and a time goes by its
// square: where one stopwatch found 1.6 % of a change of 1 % and the other one 0.4, the
// second took 16 times as long for no other reason. So it goes by what all of them came
// to together: see cameTo.
type Need struct {
	Change float64 `json:"change"`
	// Ours and Theirs are how much it came to by each, as a fraction of what each
	// measures: a start, a whole process.
	Ours   float64 `json:"ours"`
	Theirs float64 `json:"theirs"`
	// OurTime and TheirTime are for p < 5 %, Gate for a gate at half of the change, ns.
	OurTime   float64 `json:"our_time_ns"`
	TheirTime float64 `json:"their_time_ns"`
	Gate      float64 `json:"gate_time_ns"`
	// Ratio is ours over theirs, with its 95 % interval.
	Ratio float64 `json:"ratio"`
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`
}

// pieces is into how many windows a run is cut to see how its estimates scatter.
const pieces = 8

// needs is by change, of those that are one.
func (s *Stretch) needs() (out []Need) {
	length := math.Inf(1)
	for _, r := range s.Runs {
		for k := 1; k < len(s.Changes); k++ {
			length = min(length, sum(costs(r.Blocks, 0, k))/pieces, sum(roundCosts(r.Rounds, 0, k))/pieces)
		}
	}
	if math.IsInf(length, 0) || length <= 0 {
		return nil
	}
	piece := time.Duration(length * 0.999) // so that the last one fits, too
	our, effect, nu := s.scatter(func(r *Run, k int) (out []float64) {
		for _, w := range every(windows(costs(r.Blocks, 0, k), piece)) {
			if d := pairLogs(r.Blocks[w.From:w.To], 0, k); len(d) > 0 {
				out = append(out, stats.HodgesLehmann(d))
			}
		}
		return out
	})
	their, theirEffect, theirNu := s.scatter(func(r *Run, k int) (out []float64) {
		for _, w := range every(windows(roundCosts(r.Rounds, 0, k), piece)) {
			if d := logShift(pooled(r.Rounds[w.From:w.To], 0), pooled(r.Rounds[w.From:w.To], k)); !math.IsNaN(d) {
				out = append(out, d)
			}
		}
		return out
	})
	if nu < 1 || theirNu < 1 {
		return nil
	}
	z := distuv.UnitNormal.Quantile
	takes := func(sd, effect, level float64) float64 {
		if effect <= 0 {
			return math.Inf(1)
		}
		return float64(piece) * math.Pow((z(level)+z(0.9))*sd/effect, 2)
	}
	f := distuv.F{D1: nu, D2: theirNu}
	shares := gate.Shares(gate.Within(math.MaxInt)) // of a gate with as many looks as there can be
	last := shares[len(shares)-1]
	by := cameTo(s.Changes, effect, our/math.Sqrt(nu+1), 1)
	theirBy := cameTo(s.Changes, theirEffect, their/math.Sqrt(theirNu+1), s.scale())
	for k := 2; k < len(s.Changes); k++ {
		n := Need{Change: s.Changes[k], Ours: math.Expm1(effect[k]), Theirs: math.Expm1(theirEffect[k]),
			OurTime: takes(our, by[k], 0.975), TheirTime: takes(their, theirBy[k], 0.975),
			Gate: takes(our, by[k]-math.Log1p(s.Changes[k]/2), 1-sample.OneSided*last)}
		n.Ratio = n.OurTime / n.TheirTime
		n.Lo, n.Hi = n.Ratio/f.Quantile(0.975), n.Ratio/f.Quantile(0.025)
		if finite(n.Ratio) && finite(n.Gate) {
			out = append(out, n)
		}
	}
	return out
}

// cameTo is what each change came to, on logarithms: what was put in, of what is measured,
// of which a start is so many times as much. Where the line through what was found of all
// changes says for certain that they came to more or to less, it is that many times as
// much. Its height is the error of the program that all are held against, and no change.
func cameTo(changes, found []float64, se, scale float64) []float64 {
	out := make([]float64, len(changes))
	for k, c := range changes {
		out[k] = math.Log1p(c * scale)
	}
	_, slope := stat.LinearRegression(out[1:], found[1:], nil, false)
	off := se / math.Sqrt(stat.Variance(out[1:], nil)*float64(len(out)-2))
	if math.Abs(slope-1) > distuv.UnitNormal.Quantile(1-sideOf/2)*off {
		for k := range out {
			out[k] *= slope
		}
	}
	return out
}

func finite(x float64) bool { return !math.IsInf(x, 0) && !math.IsNaN(x) }

// scatter is the standard deviation of the estimates of windows, over all changes,
// and their mean by change. All are held against the same program, so that the
// degrees of freedom are those of one change.
func (s *Stretch) scatter(estimates func(r *Run, k int) []float64) (sd float64, mean []float64, nu float64) {
	mean = make([]float64, len(s.Changes))
	squares, n := 0.0, 0
	for k := 1; k < len(s.Changes); k++ {
		var all []float64
		for _, r := range s.Runs {
			all = append(all, estimates(r, k)...)
		}
		if len(all) < 2 {
			return 0, mean, 0
		}
		mean[k] = sum(all) / float64(len(all))
		for _, x := range all {
			squares += (x - mean[k]) * (x - mean[k])
		}
		n += len(all) - 1
		nu = float64(len(all) - 1)
	}
	return math.Sqrt(squares / float64(n)), mean, nu
}

// every leaves of overlapping windows those that have nothing in common.
func every(all []span, _ int) (out []span) {
	for i := 0; i < len(all); i += 4 {
		out = append(out, all[i])
	}
	return out
}

func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}
