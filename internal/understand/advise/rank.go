package advise

import (
	"cmp"
	"math"
	"slices"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/understand/analyze/sample"
)

// rank scores the environments and puts them in order.
func (a *Advice) rank(cols []*column, envs []*candidate) {
	if len(cols) == 0 || len(envs) == 0 {
		return
	}
	weights := make([]float64, len(cols))
	for i, c := range cols {
		weights[i], c.baseline = c.share, c.commonBaseline(envs)
		a.Criteria[c.at].Reference = cmp.Or(c.baseline, MeanReference)
	}
	logs := map[string][][]float64{} // by criterion and block
	for _, x := range envs {
		for _, c := range cols {
			logs[x.env.ID] = append(logs[x.env.ID], c.logs(x.env.ID))
		}
	}
	mean := map[string][]float64{} // by criterion, against the references
	for _, x := range envs {
		var costs [][]float64
		for i, c := range cols {
			all := lists.Map(envs, func(other *candidate) []float64 { return logs[other.env.ID][i] })
			costs = append(costs, minus(logs[x.env.ID][i], c.reference(x.env.ID, all)))
			mean[x.env.ID] = append(mean[x.env.ID], stats.WeightedMeans(costs[i:i+1], []float64{1}, stats.Level, leastBlocks).Value)
		}
		s := stats.WeightedMeans(costs, weights, stats.Level, leastBlocks)
		a.Ranked = append(a.Ranked, Ranked{Env: x.env.ID, Engine: x.env.Engine, Score: exp(s), Blocks: s.N, Require: x.require, Prefer: x.prefer})
	}
	slices.SortStableFunc(a.Ranked, func(x, y Ranked) int { return cmp.Compare(x.Score.Value, y.Score.Value) })
	a.compare(logs, weights)
	a.front(cols)
	for i := range a.Ranked {
		a.Ranked[i].measure(a, cols, mean[a.Ranked[i].Env])
	}
	a.Sensitivity = a.sensitivity(cols, mean)
}

// reference is what a criterion's values are taken against, by block.
func (c *column) reference(env string, all [][]float64) []float64 {
	if q := c.ratio(env); q != nil {
		return c.logs(q.Env)
	}
	return means(all)
}

// means averages by block over those that have a value.
func means(rows [][]float64) []float64 {
	var out []float64
	for b := 0; ; b++ {
		sum, n, more := 0.0, 0, false
		for _, r := range rows {
			if b < len(r) {
				more = true
				if !math.IsNaN(r[b]) {
					sum, n = sum+r[b], n+1
				}
			}
		}
		if !more {
			return out
		}
		out = append(out, sum/float64(n)) // NaN of none
	}
}

// minus is NaN where either is missing.
func minus(x, y []float64) []float64 {
	out := make([]float64, min(len(x), len(y)))
	for b := range out {
		out[b] = x[b] - y[b]
	}
	return out
}

// exp turns an estimate of a logarithm into one of a ratio.
func exp(s stats.Sum) sample.Estimate {
	e := sample.Estimate{Value: math.Exp(s.Value)}
	if lo, hi := math.Exp(s.Interval.Lo), math.Exp(s.Interval.Hi); s.OK && !math.IsInf(hi, 0) {
		e.Lo, e.Hi = &lo, &hi
	}
	return e
}

// compare tests every two of the ranking and gives them letters.
func (a *Advice) compare(logs map[string][][]float64, weights []float64) {
	n := len(a.Ranked)
	level := alpha / float64(max(1, n*(n-1)/2))
	var p []float64
	for i := range n {
		for j := i + 1; j < n; j++ {
			x, y := a.Ranked[i].Env, a.Ranked[j].Env
			var d [][]float64
			for c := range weights {
				d = append(d, minus(logs[x][c], logs[y][c]))
			}
			s := stats.WeightedMeans(d, weights, stats.Level, leastBlocks)
			pair := Pair{A: x, B: y, Ratio: exp(s)}
			p = append(p, s.P)
			strict := stats.WeightedMeans(d, weights, 1-level, leastBlocks)
			if half := strict.Interval.Width() / 2; s.OK && s.Value != 0 {
				pair.BlocksNeeded = blocksNeeded(s.Value, half, s.N)
			}
			a.Pairs = append(a.Pairs, pair)
		}
	}
	holm := stats.Holm(p)
	apart := map[[2]int]bool{}
	k := 0
	for i := range n {
		for j := i + 1; j < n; j++ {
			if !math.IsNaN(p[k]) {
				a.Pairs[k].P, a.Pairs[k].Holm = &p[k], &holm[k]
				if apart[[2]int{i, j}] = holm[k] < alpha; apart[[2]int{i, j}] {
					a.Pairs[k].BlocksNeeded = 0
				}
			}
			k++
		}
	}
	for g, members := range stats.Letters(n, func(i, j int) bool { return apart[[2]int{i, j}] }) {
		for _, m := range members {
			a.Ranked[m].Group += stats.Letter(g)
		}
	}
}

// front finds which environments are surely dominated.
func (a *Advice) front(cols []*column) {
	for i := range a.Ranked {
		for j := range a.Ranked {
			if i != j && a.dominates(cols, a.Ranked[j].Env, a.Ranked[i].Env) {
				a.Ranked[i].DominatedBy = append(a.Ranked[i].DominatedBy, a.Ranked[j].Env)
			}
		}
		a.Ranked[i].Front = len(a.Ranked[i].DominatedBy) == 0
	}
}

// dominates says whether x is surely as good as y in every criterion, but for
// less than matters, and surely better in one.
func (a *Advice) dominates(cols []*column, x, y string) bool {
	better := false
	for _, c := range cols {
		e, holm := c.versus(x, y)
		if e == nil || *e.Hi > 1+a.Profile.Matters {
			return false
		}
		better = better || *e.Hi < 1/(1+a.Profile.Matters) && holm < alpha
	}
	return better
}

// surelyWorse says whether x is worse than y by more than matters.
func (a *Advice) surelyWorse(c *column, x, y string) bool {
	e, holm := c.versus(x, y)
	return e != nil && *e.Lo > 1+a.Profile.Matters && holm < alpha
}

// measure fills in what was measured of an environment.
func (r *Ranked) measure(a *Advice, cols []*column, mean []float64) {
	r.Measured = []Measurement{}
	for i, c := range cols {
		cell := c.table.Cell(r.Env)
		m := Measurement{Criterion: c.at, Median: *cell.Median, N: cell.N, Cost: math.Exp(c.share * mean[i]), Stand: Neutral}
		if n := c.count(r.Env); n != nil {
			m.Failed = n.Failed
		}
		if q := c.ratio(r.Env); q != nil {
			m.Ratio = &q.Estimate
		}
		m.Best = a.bestOf(c)
		worseThanAny, betterThanAny := false, false
		for _, o := range a.Ranked {
			worseThanAny = worseThanAny || a.surelyWorse(c, r.Env, o.Env)
			betterThanAny = betterThanAny || a.surelyWorse(c, o.Env, r.Env)
		}
		if m.Best != r.Env {
			m.Worse, _ = c.versus(r.Env, m.Best)
		}
		switch {
		case betterThanAny && !worseThanAny:
			m.Stand = For
		case worseThanAny && !betterThanAny:
			m.Stand = Against
		}
		r.Measured = append(r.Measured, m)
	}
}

// bestOf is the first of the criterion's ranking that is ranked here.
func (a *Advice) bestOf(c *column) string {
	for _, e := range c.table.Ranking {
		if slices.ContainsFunc(a.Ranked, func(r Ranked) bool { return r.Env == e }) {
			return e
		}
	}
	return ""
}
