package analyze

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
)

// alpha is the chance of any false alarm in a table's groups.
const alpha = 1 - stats.Level

// minRank is the number of blocks from which ranks carry a 95 % interval.
const minRank = 6

// minT is the number of blocks from which Student's interval says anything:
// with 2 or 3 its quantile, 12.7 or 4.3, makes it span any ratio.
const minT = 4

// logRatios gives the log of a over b for each block that has both, as a
// difference, so that of two rounded values it is the same with either above
// the other, and ranks see the tie. The last result is false where one value is
// not positive, so that it has no log.
func logRatios(a, b []float64) (d, x, y []float64, ok bool) {
	for i := range min(len(a), len(b)) {
		if math.IsNaN(a[i]) || math.IsNaN(b[i]) {
			continue
		}
		if a[i] <= 0 || b[i] <= 0 {
			return nil, nil, nil, false
		}
		d, x, y = append(d, math.Log(a[i])-math.Log(b[i])), append(x, a[i]), append(y, b[i])
	}
	return d, x, y, true
}

// compare estimates a over b from their block medians.
func compare(a, b []float64, delta float64) (Comparison, []float64) {
	d, x, y, ok := logRatios(a, b)
	if !ok {
		return Comparison{Missing: "a value is 0 or negative: it has no ratio"}, nil
	}
	c := Comparison{Blocks: len(d)}
	if len(d) == 0 {
		c.Missing = "no block has a value of both"
		return c, nil
	}
	var center float64
	var i stats.Interval
	if len(d) >= minRank {
		c.Method = "hodges-lehmann"
		center, i, ok = stats.PseudoMedian(d, stats.Level)
		c.Skewed = math.Abs(stat.Mean(d, nil)-center) > i.Width()
	} else {
		c.Method = "t"
		center, i, ok = stats.TInterval(d, stats.Level)
		ok = ok && len(d) >= minT
	}
	c.Value = math.Exp(center)
	if ok {
		lo, hi := math.Exp(i.Lo), math.Exp(i.Hi)
		// Values that are far apart can take it beyond any number; JSON has no infinity.
		if !math.IsInf(hi, 0) {
			c.Lo, c.Hi = &lo, &hi
		}
		c.Verdict, c.BlocksNeeded = verdict(center, i, len(d), delta)
	} else {
		c.Verdict = CannotTell
	}
	c.Cliff = stats.CliffDelta(x, y)
	c.Effect = stats.Effect(c.Cliff)
	return c, d
}

// verdict compares an interval of a log ratio with ±delta. Where it cannot
// tell, the half-width that would is scaled to blocks by its falling with the
// square root of their number.
func verdict(center float64, i stats.Interval, n int, delta float64) (Verdict, int) {
	edge := math.Log1p(delta)
	switch {
	case i.Lo > edge || i.Hi < -edge:
		return Differs, 0
	case i.Lo >= -edge && i.Hi <= edge:
		return Equal, 0
	}
	gap := math.Abs(math.Abs(center) - edge)
	half := i.Width() / 2
	needed := math.Ceil(float64(n) * math.Pow(half/gap, 2))
	if !(needed <= 10_000) {
		return CannotTell, 0
	}
	return CannotTell, max(int(needed), n+1)
}

// rank fills in the ranking, its pairs and its groups.
func (t *Table) rank(medians [][]float64, delta float64) {
	at := map[string]int{}
	for i := range t.Cells {
		if t.Cells[i].Median != nil {
			t.Ranking = append(t.Ranking, t.Cells[i].Env)
		}
		at[t.Cells[i].Env] = i
	}
	slices.SortStableFunc(t.Ranking, func(a, b string) int {
		x, y := t.Cells[at[a]].Median.Value, t.Cells[at[b]].Median.Value
		if t.Metric.Better == record.HigherIsBetter {
			x, y = y, x
		}
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	n := len(t.Ranking)
	if n < 2 {
		return
	}
	var family []sample
	for i := range n {
		for j := i + 1; j < n; j++ {
			a, b := t.Ranking[i], t.Ranking[j]
			c, d := compare(medians[at[a]], medians[at[b]], delta)
			t.Pairs = append(t.Pairs, Pair{A: a, B: b, Comparison: c})
			family = append(family, sample{x: d, paired: true})
		}
	}
	by := testOf(family, 2, alpha)
	t.Test = testName(true, by.ranks)
	p := make([]float64, len(family))
	for i := range family {
		p[i] = family[i].p(0, by)
	}
	holm := stats.Holm(p)
	apart := make([]bool, n*n)
	k := 0
	for i := range n {
		for j := i + 1; j < n; j++ {
			if !math.IsNaN(p[k]) {
				q := &t.Pairs[k]
				q.P, q.Holm = &p[k], &holm[k]
				apart[i*n+j] = holm[k] < alpha
				if q.Verdict == Differs && !apart[i*n+j] {
					q.Verdict, q.BlocksNeeded = CannotTell, enough(q.Blocks, p[k], len(p))
				}
			}
			k++
		}
	}
	for g, members := range stats.Letters(n, func(i, j int) bool { return apart[i*n+j] }) {
		for _, m := range members {
			t.Cells[at[t.Ranking[m]]].Group += letter(g)
		}
	}
}

// letter names the k-th group: a…z, A…Z, then numbers in brackets.
func letter(k int) string {
	const abc = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if k < len(abc) {
		return abc[k : k+1]
	}
	return "[" + itoa(k+1) + "]"
}
