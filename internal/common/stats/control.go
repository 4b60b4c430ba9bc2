package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Controlled is what a control variate takes out of two samples.
type Controlled struct {
	// By is what is taken out of each block's value, of either sample.
	By [2][]float64
	// Weights are the mean weights of the controls, and Sum is theirs together.
	Weights []float64
	Sum     float64
	// Moved is the part of what moved all controls between the samples that the
	// weights leave in: the true difference may be the estimate, or that less Moved,
	// or anything between.
	Moved float64
}

// needs is by how much less a sample must scatter for a control to be used, as
// a multiple of 1/√n for n blocks in both: about the error of that comparison.
const needs = 0.75

// tamed is how many standard deviations, by the median of absolute deviations,
// a control's value may lie off its median; what is farther counts as there.
const tamed = 3

// steps is into how many parts weights are cut: quarters. Scatter is flat around
// its least, so that a finer one would follow the noise.
const steps = 4

// folds is into how many parts the blocks are dealt.
const folds = 5

// mostPairs bounds the pairs that weights are learnt from.
const mostPairs = 400

// Control finds what to take out of two independent samples, on logarithms, by
// what each control did in the same blocks: Σ w·(x − its middle). y[i] is a sample
// and x[i][c] are the values of control c beside it.
//
// The weights are those with the largest sum, at most 1, of all with which y
// scatters less than without any by more than chance would have it, and of these
// the ones with the least scatter; where there are none, 0. A sum of 1 cancels
// what moves all alike, between blocks and between samples. The weight of the
// least scatter alone would be smaller than the one that carries a slow change,
// since each control has noise of its own. Scatter is measured where the interval
// of Shift has its ends: by the quantile of the differences within the samples
// that corresponds to its depth.
//
// Each block's weights are learnt from the other folds of both samples
// (cross-fitting): they know nothing of the value that they are put to. Where the
// folds disagree, that enters the interval as scatter.
//
// (Lavenberg & Welch, Management Science 27, 1981, on control variates with
// learnt weights; Chernozhukov et al., Econometrics Journal 21, 2018, on
// cross-fitting.)
func Control(y [2][]float64, x [2][][]float64) Controlled {
	k := len(x[0])
	out := Controlled{Weights: make([]float64, k)}
	n := len(y[0]) + len(y[1])
	depth := max(1, rankSumDepth(len(y[0]), len(y[1]), (1-Level)/2))
	l := learner{y: y, x: tame(x), share: 1 - 2*float64(depth)/float64(len(y[0])*len(y[1])), limit: 1 - needs/math.Sqrt(float64(n)), grid: simplex(k)}
	middle := make([]float64, k)
	for c := range k {
		middle[c] = (Median(Sorted(l.x[0][c])) + Median(Sorted(l.x[1][c]))) / 2
	}
	for i := range y {
		out.By[i] = make([]float64, len(y[i]))
	}
	for f := range folds {
		w := l.weights(f)
		for i := range y {
			for b := f; b < len(y[i]); b += folds {
				for c := range k {
					out.By[i][b] += w[c] * (l.x[i][c][b] - middle[c])
					out.Weights[c] += w[c] / float64(n)
				}
			}
		}
	}
	for c, w := range out.Weights {
		out.Weights[c] = math.Round(w*1e6) / 1e6 // sums of quarters have no more digits, but rounding errors
		out.Sum += out.Weights[c]
	}
	if left := 1 - out.Sum; left > 1e-5 {
		out.Moved = left * moved(y, x)
	}
	return out
}

// moved is by how much the controls moved at least between the samples, where
// all of them did the same way, of the one that did the least. It is what each
// did more likely than not; of one that scatters far more than y that would be
// noise as often as not, and it is what it did surely.
func moved(y [2][]float64, x [2][][]float64) float64 {
	const far = 2
	_, own, _ := Shift(y[1], y[0], Level)
	least := math.NaN()
	for c := range x[0] {
		_, in, ok := Shift(x[1][c], x[0][c], Level)
		if ok && in.Width() <= far*own.Width() {
			_, in, ok = Shift(x[1][c], x[0][c], 0.5)
		}
		v := max(in.Lo, 0) + min(in.Hi, 0)
		switch {
		case !ok || v*least < 0:
			return 0
		case !(math.Abs(v) >= math.Abs(least)):
			least = v
		}
	}
	if math.IsNaN(least) {
		return 0
	}
	return least
}

// tame keeps single wild values of a control from being taken out of what they
// have nothing to do with. Both samples are treated alike.
func tame(x [2][][]float64) [2][][]float64 {
	var out [2][][]float64
	for c := range x[0] {
		all := Sorted(slices.Concat(x[0][c], x[1][c]))
		middle := Median(all)
		for i, v := range all {
			all[i] = math.Abs(v - middle)
		}
		const sd = 1.4826 // of normal values, by that median
		far := tamed * sd * Median(Sorted(all))
		for i := range x {
			v := slices.Clone(x[i][c])
			for b := range v {
				v[b] = min(max(v[b], middle-far), middle+far)
			}
			out[i] = append(out[i], v)
		}
	}
	return out
}

type learner struct {
	y            [2][]float64
	x            [2][][]float64
	share, limit float64
	grid         [][]float64
}

// weights are learnt from all blocks but a fold's.
func (l *learner) weights(fold int) []float64 {
	dy, dx := l.differences(fold)
	d := make([]float64, len(dy))
	scatter := func(w []float64) float64 {
		for i, v := range dy {
			for c, by := range w {
				v -= by * dx[c][i]
			}
			d[i] = math.Abs(v)
		}
		return nth(d, min(len(d)-1, int(l.share*float64(len(d)))))
	}
	best := l.grid[0] // none
	if len(dy) == 0 {
		return best
	}
	limit := scatter(best) * l.limit
	most, least := 0.0, limit
	for _, w := range l.grid[1:] {
		sum := 0.0
		for _, v := range w {
			sum += v
		}
		if sum < most {
			continue
		}
		if v := scatter(w); v < least || sum > most && v <= limit {
			best, most, least = w, sum, v
		}
	}
	return best
}

// differences are those of the blocks of one sample outside a fold, or a regular
// choice of them where they are many: of all pairs, those of neighbours first and of
// the first sample first, every so-many-th.
func (l *learner) differences(fold int) (dy []float64, dx [][]float64) {
	total := 0
	for _, y := range l.y {
		n := len(y) - (len(y)-fold+folds-1)/folds
		total += n * (n - 1) / 2
	}
	stride := max(1, (total+mostPairs-1)/mostPairs)
	next := stride - 1 // how many pairs there are until the next one that is taken
	dx = make([][]float64, len(l.x[0]))
	for i, y := range l.y {
		for lag := 1; lag < len(y); lag++ {
			starts := startsOutside(fold, lag)
			n := starts.below(len(y) - lag)
			for ; next < n; next += stride {
				b := starts.at(next)
				dy = append(dy, y[b+lag]-y[b])
				for c := range dx {
					dx[c] = append(dx[c], l.x[i][c][b+lag]-l.x[i][c][b])
				}
			}
			next -= n
		}
	}
	return dy, dx
}

// starts are the blocks b of which neither b nor the one that is so far behind it is in
// a fold. They recur after as many blocks as there are folds.
type starts struct {
	n    int
	rest [folds]int // the first n of them, rising
}

func startsOutside(fold, lag int) (s starts) {
	for r := range folds {
		if r != fold && (r+lag)%folds != fold {
			s.rest[s.n] = r
			s.n++
		}
	}
	return s
}

// at is the k-th of them (from 0).
func (s *starts) at(k int) int { return k/s.n*folds + s.rest[k%s.n] }

// below counts those before a block.
func (s *starts) below(b int) int {
	count := b / folds * s.n
	for _, r := range s.rest[:s.n] {
		if r < b%folds {
			count++
		}
	}
	return count
}

// simplex lists the weights of k controls that sum up to at most 1, none first.
func simplex(k int) [][]float64 {
	out := [][]float64{nil}
	for range k {
		var next [][]float64
		for _, w := range out {
			left := 1.0
			for _, v := range w {
				left -= v
			}
			for q := 0; float64(q)/steps <= left; q++ {
				next = append(next, append(slices.Clone(w), float64(q)/steps))
			}
		}
		out = next
	}
	return out
}

// Between says how the centres of runs of one thing scatter, y[r] being the
// blocks of a run and x[r][c] what control c did in them: the standard deviation
// with the weights with which Student's interval of it is the narrowest. Each
// weight that is not 0 costs a degree of freedom.
func Between(y [][]float64, x [][][]float64) (weights []float64, sd, nu float64) {
	least := math.Inf(1)
	for _, w := range simplex(len(x[0])) {
		free := float64(len(y) - 1)
		for _, v := range w {
			if v > 0 {
				free--
			}
		}
		if free < 1 {
			continue
		}
		centers := make([]float64, len(y))
		for r := range y {
			d := slices.Clone(y[r])
			for b := range d {
				for c, v := range w {
					d[b] -= v * x[r][c][b]
				}
			}
			centers[r] = HodgesLehmann(d)
		}
		s := stat.StdDev(centers, nil) * math.Sqrt(float64(len(y)-1)/free)
		if width := s * (distuv.StudentsT{Mu: 0, Sigma: 1, Nu: free}).Quantile(1-(1-Level)/2); width < least {
			weights, sd, nu, least = w, s, free, width
		}
	}
	return weights, sd, nu
}
