package stats

import "slices"

// Decomposition says which factors the variance of a matrix of cells comes
// from. The model: each value is the sum of its block's mean, of the cell's
// effect and of noise; the cell's effect is the sum of main effects, of the
// interactions of pairs and of a rest. What blocks have in common is taken
// out first, so that the shares are of the variance within blocks.
type Decomposition struct {
	// Terms are the main effects in the order of the factors, then the
	// interactions of pairs.
	Terms []Term
	// Rest is what lies between cells beyond the terms: interactions of three
	// and more, and what no factor names. Noise is what is left.
	Rest, Noise Share
	// Pairs is what all interactions of pairs add to all main effects.
	Pairs Share
	// MSE is the mean square of the noise, SSE its sum; DFE its degrees of freedom.
	MSE, SSE float64
	DFE      int
	// Total is the sum of squares within blocks.
	Total float64
}

// Share is a share of the variance, as ω², 0 to 1, with its interval.
type Share struct {
	Value    float64
	Interval Interval
	// OK says whether there is an interval: from 6 blocks on.
	OK bool
}

// Term is a main effect (B < 0) or the interaction of two factors.
type Term struct {
	A, B int
	// SS is the sum of squares that the term adds to all others, of which
	// those for a main effect are the main effects (type II), DF its degrees of freedom: 0 where the others
	// leave it none, so that its effect cannot be told from theirs.
	SS float64
	DF int
	// FirstSS and FirstDF are the same with nothing before it but its own
	// main effects. In a balanced plan they are equal to SS and DF.
	FirstSS float64
	FirstDF int
	// Share is ω² = (SS − DF·MSE)/(Total + MSE) (Hays 1963; Olejnik & Algina
	// 2003), at least 0; Partial is (SS − DF·MSE)/(SS + (N − DF)·MSE).
	// First is the share by FirstSS.
	Share   Share
	Partial float64
	First   float64
}

// Variance decomposes values by block and cell; every block has every cell.
// factors has, for each factor, the level of each cell. Intervals come from
// boots resamples of whole blocks (0: none), the same for the same seed. The
// last result is false for fewer than two blocks or cells, where there is
// nothing to decompose.
func Variance(values [][]float64, factors [][]int, boots int, seed uint64) (Decomposition, bool) {
	if len(values) < 2 || len(values[0]) < 2 {
		return Decomposition{}, false
	}
	return newModel(factors, len(values[0])).whole(values, boots, seed)
}

// whole decomposes all blocks, each counted once, with intervals where there are enough.
func (m *model) whole(values [][]float64, boots int, seed uint64) (Decomposition, bool) {
	y := centered(values)
	d := m.decompose(y, slices.Repeat([]float64{1}, len(y)), 1)
	if d.Total <= 0 {
		return d, false
	}
	if boots > 0 && len(y) >= minBlocks {
		m.intervals(&d, y, boots, seed)
	}
	return d, true
}

// centered takes the mean of each block out.
func centered(values [][]float64) [][]float64 {
	out := make([][]float64, len(values))
	for b, row := range values {
		mean := 0.0
		for _, v := range row {
			mean += v / float64(len(row))
		}
		out[b] = make([]float64, len(row))
		for c, v := range row {
			out[b][c] = v - mean
		}
	}
	return out
}

// model holds the directions of each term in the space of the cells.
type model struct {
	terms       []Term // DF and FirstDF are known
	last, first []basis
	all         basis // of all terms together, those of main effects first
	main        int   // how many of all are of main effects
	cells       int
}

// decompose computes the sums of squares, blocks counted by their weights.
// inflation is by how much the noise of the cells' means is greater than the
// mean square of the noise says, as it is in a resample.
func (m *model) decompose(y [][]float64, weights []float64, inflation float64) Decomposition {
	blocks := 0.0
	mean := make([]float64, m.cells)
	squares := 0.0
	for b, row := range y {
		if weights[b] == 0 {
			continue
		}
		blocks += weights[b]
		for c, v := range row {
			mean[c] += weights[b] * v
			squares += weights[b] * v * v
		}
	}
	between := 0.0
	for c := range mean {
		mean[c] /= blocks
		between += blocks * mean[c] * mean[c]
	}
	d := Decomposition{Terms: make([]Term, len(m.terms)), Total: squares, SSE: max(0, squares-between),
		DFE: (m.cells - 1) * (int(blocks) - 1)}
	d.MSE = d.SSE / float64(d.DFE)
	noise := inflation * d.MSE
	copy(d.Terms, m.terms)
	share := func(ss float64, df int) float64 {
		if df == 0 || d.Total <= 0 {
			return 0
		}
		return min(1, max(0, (ss-float64(df)*noise)/(d.Total+d.MSE)))
	}
	n := blocks * float64(m.cells)
	for i := range d.Terms {
		t := &d.Terms[i]
		t.SS, t.FirstSS = blocks*m.last[i].energy(mean), blocks*m.first[i].energy(mean)
		t.Share.Value, t.First = share(t.SS, t.DF), share(t.FirstSS, t.FirstDF)
		if e := t.SS - float64(t.DF)*noise; t.DF > 0 && e > 0 {
			t.Partial = e / (t.SS + (n-float64(t.DF))*d.MSE)
		}
	}
	rest := between - blocks*m.all.energy(mean)
	d.Rest.Value = share(rest, m.cells-1-len(m.all))
	d.Pairs.Value = share(blocks*m.all[m.main:].energy(mean), len(m.all)-m.main)
	d.Noise.Value = max(0, 1-share(between, m.cells-1))
	return d
}

// Joint is the share of several factors together: what their main effects add
// to those of all other factors.
func Joint(values [][]float64, factors [][]int, group []int, boots int, seed uint64) (Share, bool) {
	in := map[int]bool{}
	for _, f := range group {
		in[f] = true
	}
	if len(values) < 2 || len(values[0]) < 2 {
		return Share{}, false
	}
	var others basis
	for f := range factors {
		if !in[f] {
			others = others.with(indicators(factors[f]))
		}
	}
	all := others
	for _, f := range group {
		all = all.with(indicators(factors[f]))
	}
	own := all[len(others):]
	if len(own) == 0 {
		return Share{}, false
	}
	// Together they are one factor whose main effect is the sum of theirs.
	j := &model{cells: len(values[0]), terms: []Term{{A: group[0], B: -1, DF: len(own), FirstDF: len(own)}},
		last: []basis{own}, first: []basis{own}, all: all, main: len(all)}
	d, ok := j.whole(values, boots, seed)
	if !ok {
		return Share{}, false
	}
	return d.Terms[0].Share, true
}

// Apart says whether a plan tells a group of factors from all the others: none
// of its directions is lost where the others are counted first.
func Apart(factors [][]int, group []int) bool {
	var own, others basis
	for f, level := range factors {
		if slices.Contains(group, f) {
			own = own.with(indicators(level))
		} else {
			others = others.with(indicators(level))
		}
	}
	n := len(own) + len(others)
	for _, f := range group {
		others = others.with(indicators(factors[f]))
	}
	return len(others) == n
}

// Aliased says whether a plan varies two factors so that their main effects
// cannot be told apart, at least in part: together they have fewer directions
// than each alone has.
func Aliased(a, b []int) bool {
	x, y := basis(nil).with(indicators(a)), basis(nil).with(indicators(b))
	return len(x.with(indicators(b))) < len(x)+len(y)
}
