package analyze

import (
	"cmp"
	"math"
	"slices"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/sample"
)

// rank fills in the ranking, its pairs and its groups.
func (t *Table) rank(of pair) {
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
		return cmp.Compare(x, y)
	})
	n := len(t.Ranking)
	if n < 2 {
		return
	}
	var family []sample.Pairs
	for i := range n {
		for j := i + 1; j < n; j++ {
			a, b := t.Ranking[i], t.Ranking[j]
			c := of(at[a], at[b])
			t.Pairs = append(t.Pairs, Pair{A: a, B: b, Comparison: c.Comparison})
			family = append(family, c.pairs)
		}
	}
	test := sample.TestOf(family, 2, sample.Alpha)
	t.Test = sample.TestName(true, test.Ranks)
	p := lists.Map(family, func(s sample.Pairs) float64 { return s.P(test) })
	holm := stats.Holm(p)
	apart := make([]bool, n*n)
	k := 0
	for i := range n {
		for j := i + 1; j < n; j++ {
			if !math.IsNaN(p[k]) {
				q := &t.Pairs[k]
				q.P, q.Holm = &p[k], &holm[k]
				apart[i*n+j] = holm[k] < sample.Alpha
				if q.Verdict == Differs && !apart[i*n+j] {
					q.Verdict, q.BlocksNeeded = CannotTell, enough(q.Blocks, p[k], len(p))
				}
			}
			k++
		}
	}
	for g, members := range stats.Letters(n, func(i, j int) bool { return apart[i*n+j] }) {
		for _, m := range members {
			t.Cells[at[t.Ranking[m]]].Group += stats.Letter(g)
		}
	}
}
