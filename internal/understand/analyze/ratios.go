package analyze

import (
	"math"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/sample"
)

// Compare compares each two cells with one another, from the medians by cell and block,
// and every cell with the baselines.
func (t *Table) Compare(envs []record.Environment, medians [][]float64, delta float64) {
	columns, known := lists.Map(medians, columnOf), map[[2]int]compared{}
	var of pair
	of = func(a, b int) compared {
		if a > b {
			return of(b, a).reversed(delta)
		}
		c, ok := known[[2]int{a, b}]
		if !ok {
			c, _ = compare(columns[a], columns[b], delta)
			known[[2]int{a, b}] = c
		}
		return c
	}
	t.rank(of)
	for e := range t.Cells {
		if t.Cells[e].Median != nil {
			t.Cells[e].Ratios = ratios(envs, e, of)
		}
	}
	t.judgeRatios()
	t.place(envs)
}

// pair compares one cell with another; each two of them once, whatever the order.
type pair func(a, b int) compared

// ratios compares with the baselines of the run, each by the environment that
// has most levels in common with this one.
func ratios(envs []record.Environment, e int, of pair) []Ratio {
	var out []Ratio
	for _, name := range Baselines {
		b := baseline(envs, name, e)
		if b < 0 {
			continue
		}
		r := Ratio{Baseline: name, Env: envs[b].ID}
		if b == e {
			one := 1.0
			r.Comparison = Comparison{Estimate: sample.Estimate{Value: one}, Verdict: Equal, Effect: stats.Effect(0), Method: "itself"}
		} else {
			c := of(e, b)
			r.Comparison, r.pairs = c.Comparison, c.pairs
		}
		out = append(out, r)
	}
	return out
}

func baseline(envs []record.Environment, name string, e int) int {
	best, most := -1, -1
	levels := envs[e].Levels
	for i, b := range envs {
		if b.Baseline != name {
			continue
		}
		if i == e {
			return i
		}
		same := 0
		for f, l := range levels {
			if b.Levels[f] == l {
				same++
			}
		}
		if same > most {
			best, most = i, same
		}
	}
	return best
}

// judgeRatios judges the column of each baseline as one family.
func (t *Table) judgeRatios() {
	for _, name := range Baselines {
		var rs []*Ratio
		var family []sample.Pairs
		var verdicts []*Verdict
		for i := range t.Cells {
			if r := t.Cells[i].Ratio(name); r != nil && r.pairs.Blocks() > 0 {
				rs, family, verdicts = append(rs, r), append(family, r.pairs), append(verdicts, &r.Verdict)
			}
		}
		p, holm, needed := Judge(family, verdicts)
		for i, r := range rs {
			r.BlocksNeeded = max(r.BlocksNeeded, needed[i])
			if !math.IsNaN(p[i]) {
				r.P, r.Holm = &p[i], &holm[i]
			}
		}
	}
}
