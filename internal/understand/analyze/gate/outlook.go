package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/analyze/sample"
)

// power is how often a worsening that a gate can find is found.
const power = 0.9

// Found is the worsening of one cell that a gate finds in nine of ten runs.
type Found struct {
	Workload, Metric, Name string
	// Worsening is a fraction: 0.024 for 2.4 %.
	Worsening float64
}

// String names it.
func (f Found) String() string {
	return fmt.Sprintf("%s (%s of %s in %s)", sample.Percent(f.Worsening), f.Metric, f.Workload, f.Name)
}

// reach is the worsening that a gate finds in nine of ten runs, where the log
// ratio has this standard error at its last look: as far beyond the threshold as
// the interval reaches, at the level of that look's share and of the most corrected
// cell, and as the estimate scatters. 0 degrees of freedom are many.
func reach(se, limit, share float64, cells int, nu float64) float64 {
	level := 1 - sample.OneSided*share/float64(max(1, cells))
	far := distuv.UnitNormal.Quantile(level) + distuv.UnitNormal.Quantile(power)
	if nu > 0 {
		t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: nu}
		far = t.Quantile(level) + t.Quantile(power)
	}
	return (1+limit)*math.Exp(far*se) - 1
}

// Finds is the worsening beyond limit, as a fraction, that a gate on this sample
// finds in nine of ten runs, where its look has such a share of the level and it is one
// of so many cells; nil where the sample has no interval.
func Finds(s sample.Sample, limit, share float64, cells int) *float64 {
	_, in, _, ok := s.Estimate(stats.Level)
	if !ok {
		return nil
	}
	f := reach(in.Width()/2/distuv.UnitNormal.Quantile(1-sample.Alpha/2), limit, share, cells, 0)
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return nil
	}
	return &f
}

// CouldFind lists what a gate that has judged could have found, the sharpest
// first.
func CouldFind(c *compare.Changes) []Found {
	var out []Found
	for i := range c.Cells {
		if ch := &c.Cells[i]; ch.Gate != nil && ch.Gate.Finds != nil {
			out = append(out, Found{Workload: c.Work(ch.Workload), Metric: ch.Metric.ID, Name: ch.Name(), Worsening: *ch.Gate.Finds})
		}
	}
	return sharpest(out)
}

func sharpest(all []Found) []Found {
	slices.SortStableFunc(all, func(a, b Found) int { return cmp.Compare(a.Worsening, b.Worsening) })
	return all
}

// Words sum up what a gate finds: of one cell that, of several the range.
func Words(all []Found) string {
	switch len(all) {
	case 0:
		return ""
	case 1:
		return all[0].String()
	}
	return fmt.Sprintf("%s to %s, of half of its %d cells %s or less", all[0], all[len(all)-1], len(all), sample.Percent(all[(len(all)-1)/2].Worsening))
}

// leastSeen is from how many blocks on their scatter says anything.
const leastSeen = 3

// Foresee says what a gate on a run will find that has so many blocks, and at the last
// of its looks such a share of the level, by the scatter of its first blocks, warm-up and all, and of BASE's, where it
// is another run; base is nil where two environments are compared. Nothing where
// too little has been measured.
func Foresee(r *record.Reader, base *analyze.Result, envs []string, t Thresholds, blocks int, share float64) (found []Found, seen int, err error) {
	works, seen, err := evaluate.Workloads(r)
	if err != nil || seen < leastSeen || blocks < sample.MinT {
		return nil, seen, err
	}
	type scatter struct {
		of        Found
		limit, se float64
	}
	var all []scatter
	used := make([]bool, len(t.Rules))
	add := func(work string, m record.Metric, ch compare.Change, se float64) {
		ch.Workload, ch.Metric = work, m
		if limit := t.limit(&ch, used); limit > 0 && se > 0 {
			all = append(all, scatter{Found{Workload: work, Metric: m.ID, Name: ch.Name()}, limit, se})
		}
	}
	rank := math.Pi / 3 // what ranks cost of normal values (Hollander, Wolfe & Chicken, 3.11)
	for w := range works {
		for i := range works[w].Tables {
			table := &works[w].Tables[i]
			if table.Metric.Kind != "" {
				continue
			}
			if base == nil {
				a, b := table.Cell(envs[0]), table.Cell(envs[1])
				if a == nil || b == nil {
					continue
				}
				if d, _, _, ok := sample.LogRatios(b.ByBlock, a.ByBlock); ok && len(d) >= leastSeen {
					add(works[w].ID, table.Metric, compare.Change{Env: envs[0], NewEnv: envs[1]}, stat.StdDev(d, nil)*math.Sqrt(rank/float64(blocks)))
				}
				continue
			}
			for k := range table.Cells {
				old := base.Workload(works[w].ID)
				if old == nil || old.Table(table.Metric.ID) == nil || table.Cells[k].Median == nil {
					continue
				}
				e := base.Environment(table.Cells[k].Env)
				cell := old.Table(table.Metric.ID).Cell(table.Cells[k].Env)
				if cell == nil || cell.Median == nil || e == nil || e.Baseline != "" {
					continue
				}
				logs, why := compare.BlockLogs(cell, nil)
				if _, in, ok := stats.PseudoMedian(logs, stats.Level); why == "" && ok {
					one := in.Width() / 2 / distuv.UnitNormal.Quantile(1-sample.Alpha/2)
					add(works[w].ID, table.Metric, compare.Change{Env: cell.Env}, one*math.Sqrt(1+float64(len(logs))/float64(blocks)))
				}
			}
		}
	}
	for _, s := range all {
		s.of.Worsening = reach(s.se, s.limit, share, len(all), float64(blocks-1))
		found = append(found, s.of)
	}
	return sharpest(found), seen, nil
}

// Within chooses after how many blocks to look at a run of which about so many
// blocks fit into its time, but for the last look, when the time is up. The
// level is split over all of them, so that few are chosen where few fit.
func Within(blocks int) []int {
	least := Looks[0]
	switch {
	case blocks >= 4*least:
		return []int{blocks / 4, blocks / 2}
	case blocks >= 2*least:
		return []int{blocks / 2}
	}
	return nil
}

// Shares are the parts of the level that the looks of Within have, the last one's last.
// Most is kept for the last look: who gave a gate its time asks what it can find in it,
// and a large change is found early all the same. With equal parts the same change takes
// 1.18 times as many blocks: the square of the sum of the two normal quantiles, of the
// level and of nine in ten.
func Shares(at []int) []float64 {
	switch len(at) {
	case 2:
		return []float64{0.1, 0.2, 0.7}
	case 1:
		return []float64{0.3, 0.7}
	}
	return nil
}

// Outlook says it in a sentence, before the run goes on.
func Outlook(found []Found, seen, blocks int, budget time.Duration, at []int) string {
	if len(found) == 0 {
		return ""
	}
	in := fmt.Sprintf("%d blocks", blocks)
	if budget > 0 {
		in = fmt.Sprintf("%s, about %d blocks,", budget, blocks)
	}
	s := fmt.Sprintf("by the scatter of the first %d blocks, in %s this gate will find a worsening of %s in nine of ten runs", seen, in, Words(found))
	if budget > 0 {
		s += "; it looks "
		for _, n := range at {
			s += fmt.Sprintf("after %d, ", n)
		}
		s += "when the time is up"
	}
	return s
}
