package hosts

import (
	"math"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// judge corrects the verdicts of all ratios of a table, tests in each row whether the
// hosts are alike, and says where what is found holds.
//
// That it holds everywhere is an intersection-union test (Berger 1982): each host by
// itself must show it at 5 %, and so the row errs no more often; over the rows of the
// table the largest p of each is corrected.
func judge(rows []Row, logs [][][]float64) {
	worst, differs := make([]float64, len(rows)), make([]float64, len(rows))
	signs := make([]int, len(rows))
	for i := range rows {
		signs[i] = rows[i].oneWay()
	}
	correct(rows, logs)
	for i := range rows {
		worst[i] = rows[i].worst()
		rows[i].Differ = rows[i].differ(logs[i])
		differs[i] = math.NaN()
		if rows[i].Differ != nil {
			differs[i] = rows[i].Differ.P
		}
	}
	worst, differs = stats.Holm(worst), stats.Holm(differs)
	for i := range rows {
		r := &rows[i]
		if d := r.Differ; d != nil {
			d.Holm, d.Found = differs[i], differs[i] < sample.Alpha
		}
		r.count()
		r.Holds = r.holds(signs[i] != 0 && worst[i] < sample.Alpha)
	}
}

// correct takes the verdicts back that Holm's correction over all ratios of all
// hosts does not leave.
func correct(rows []Row, logs [][][]float64) {
	var at []*AtHost
	var of []sample.Pairs
	var verdicts []*analyze.Verdict
	for i := range rows {
		for k := range rows[i].Hosts {
			if logs[i][k] != nil {
				at, of, verdicts = append(at, &rows[i].Hosts[k]), append(of, sample.PairsOf(logs[i][k])), append(verdicts, &rows[i].Hosts[k].Verdict)
			}
		}
	}
	p, holm, needed := analyze.Judge(of, verdicts)
	for i, a := range at {
		a.BlocksNeeded = max(a.BlocksNeeded, needed[i])
		if !math.IsNaN(p[i]) {
			a.P, a.Holm = &p[i], &holm[i]
		}
	}
}

// oneWay is the direction in which the ratios of all hosts differ, by their intervals
// alone; 0 where not all do.
func (r *Row) oneWay() int {
	sign := 0
	for _, a := range r.Hosts {
		if a.Verdict != analyze.Differs {
			return 0
		}
		s := 1
		if a.Value < 1 {
			s = -1
		}
		if sign != 0 && s != sign {
			return 0
		}
		sign = s
	}
	return sign
}

// worst is the largest p of the hosts, NaN where one has none.
func (r *Row) worst() float64 {
	out := 0.0
	for _, a := range r.Hosts {
		if a.P == nil {
			return math.NaN()
		}
		out = max(out, *a.P)
	}
	return out
}

// differ tests whether the hosts have one ratio: by ranks, and by means too, both of
// which must say that they have not. Where values have two humps, ranks take the
// center of a few of them for more certain than it is, and called hosts that are alike
// different in 15 of 100 simulations.
func (r *Row) differ(logs [][]float64) *Differ {
	var groups, means []stats.Group
	for _, d := range logs {
		if g, ok := group(d); ok {
			m, _ := stats.MeanGroup(d)
			groups, means = append(groups, g), append(means, m)
		}
	}
	if len(groups) < 2 {
		return nil
	}
	q, p := stats.Alike(groups)
	_, byMeans := stats.Alike(means)
	p = max(p, byMeans)
	if math.IsInf(q, 0) {
		q = math.MaxFloat64 // JSON has no infinity
	}
	return &Differ{Q: q, P: p}
}

func (r *Row) count() {
	for _, a := range r.Hosts {
		switch {
		case a.Missing != "":
		case a.Verdict == analyze.Equal:
			r.Equal++
		case a.Verdict == analyze.Differs && a.Value > 1:
			r.Above++
		case a.Verdict == analyze.Differs:
			r.Below++
		}
	}
}

func (r *Row) holds(everywhere bool) Holds {
	switch {
	case everywhere:
		return Everywhere
	case r.Equal == len(r.Hosts):
		return Alike
	case r.Differ != nil && r.Differ.Found:
		return ByHost
	}
	return Open
}
