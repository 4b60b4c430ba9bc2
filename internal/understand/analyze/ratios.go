package analyze

import (
	"math"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/sample"
)

// Compare compares every cell with the baselines, from the medians by cell and
// block, and each two cells with one another.
func (t *Table) Compare(envs []record.Environment, medians [][]float64, delta float64) {
	for e := range t.Cells {
		if t.Cells[e].Median != nil {
			t.Cells[e].Ratios = ratios(envs, e, medians, delta)
		}
	}
	t.judgeRatios()
	t.Rank(medians, delta)
	t.place(envs)
}

// ratios compares with the baselines of the run, each by the environment that
// has most levels in common with this one.
func ratios(envs []record.Environment, e int, medians [][]float64, delta float64) []Ratio {
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
			r.Comparison, r.logs = Compare(medians[e], medians[b], delta)
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
		var logs [][]float64
		var verdicts []*Verdict
		for i := range t.Cells {
			if r := t.Cells[i].Ratio(name); r != nil && r.logs != nil {
				rs, logs, verdicts = append(rs, r), append(logs, r.logs), append(verdicts, &r.Verdict)
			}
		}
		p, holm, needed := Judge(logs, verdicts)
		for i, r := range rs {
			r.logs, r.BlocksNeeded = nil, max(r.BlocksNeeded, needed[i])
			if !math.IsNaN(p[i]) {
				r.P, r.Holm = &p[i], &holm[i]
			}
		}
	}
}
