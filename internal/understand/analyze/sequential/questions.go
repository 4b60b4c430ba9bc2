package sequential

import (
	"math"
	"slices"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
)

// question is what a run asks of one workload in one environment: by how much
// it differs from its reference.
type question struct {
	env, workload, metric string
	// against is the environment that it is held against.
	against string
	// half is the relative half-width of the ratio's interval: 0.02 says that it
	// reaches 2 % to either side, on the logarithm. It is infinite where there is
	// no interval yet, and NaN where there is no ratio.
	half float64
	// why says why there is no ratio, where there is none.
	why string
	// pairs are the log ratios by block.
	pairs []float64
}

// FirstLook is the number of blocks after which a run is first looked at.
const FirstLook = 10

// LooksAt says whether a run whose number of blocks is left open is looked at
// after so many: 10, 20, 40, 80 … That often is a rule whose error rates are
// known by simulation; after every block is none.
func LooksAt(blocks int) bool {
	return blocks >= FirstLook && blocks%FirstLook == 0 && powerOfTwo(blocks/FirstLook)
}

func powerOfTwo(n int) bool { return n > 0 && n&(n-1) == 0 }

// questions lists what a workload asks, one for each environment that runs it:
// of the metrics that a report shows first, the one with the widest interval.
// The engines are asked about; baselines are there for them, and are asked
// about where nothing else runs.
func questions(work *analyze.Workload, envs []record.Environment) []question {
	onlyBaselines := !slices.ContainsFunc(envs, func(e record.Environment) bool { return e.Baseline == "" })
	var out []question
	for i, e := range envs {
		if e.Baseline != "" && !onlyBaselines || work.Counts[i].Trials == 0 {
			continue
		}
		var widest *question
		for _, id := range work.Show {
			t := work.Table(id)
			if t == nil {
				continue
			}
			q := questionOf(t, i, envs)
			if q == nil {
				continue
			}
			q.env, q.workload, q.metric = e.ID, work.ID, id
			if widest == nil || math.IsNaN(widest.half) || q.half > widest.half {
				widest = q
			}
		}
		if widest != nil {
			out = append(out, *widest)
		}
	}
	return out
}

// questionOf is that of one metric; nil where the environment is the reference.
func questionOf(t *analyze.Table, e int, envs []record.Environment) *question {
	c := &t.Cells[e]
	ref := reference(t, c, envs)
	switch {
	case c.Median == nil:
		return &question{half: math.NaN(), why: c.Missing}
	case ref == nil:
		return &question{half: math.NaN(), why: "nothing to compare it with has a value"}
	case ref == c:
		return nil
	}
	q := &question{against: ref.Env}
	r, d := analyze.Compare(c.ByBlock, ref.ByBlock, 0)
	q.pairs = d
	switch {
	case r.Missing != "":
		q.half, q.why = math.NaN(), r.Missing
	case r.Lo == nil || len(d) < FirstLook:
		q.half = math.Inf(1)
	default:
		q.half = math.Expm1(math.Log(*r.Hi / *r.Lo) / 2)
	}
	return q
}

// reference is what a cell is held against: the first baseline that has a value
// of the metric, else the first environment of the plan that has.
func reference(t *analyze.Table, c *analyze.Cell, envs []record.Environment) *analyze.Cell {
	for _, b := range analyze.Baselines {
		if q := c.Ratio(b); q != nil {
			if r := t.Cell(q.Env); r.Median != nil {
				return r
			}
		}
	}
	for i := range envs {
		if t.Cells[i].Median != nil {
			return &t.Cells[i]
		}
	}
	return nil
}
