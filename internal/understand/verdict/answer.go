package verdict

import (
	"slices"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// Answer is what can be said of one workload by the metric that stands for it, as
// data for whoever has one screen to say it.
type Answer struct {
	Work  *analyze.Workload
	Table *analyze.Table
	// All are the environments with a value, the best first; First are those that
	// cannot be told from the best, and Next is the best that can, "" none.
	All, First []string
	Next       string
	// Same: all of First are equal for practical purposes.
	Same bool
	// Needed is about how many blocks would decide between the first two, 0 where
	// that is decided, or is no number that somebody may measure.
	Needed int
	// Doubts are what speaks against it; Also the properties in which the first and the
	// next differ that their names don't name.
	Doubts, Also []string
}

// Answers has an answer for each workload of which an environment has a value, by
// the first metric that stands for it, or the one that is named.
func Answers(res *analyze.Result, metric string) (out []Answer) {
	for w := range res.Workloads {
		q := ask(res, &res.Workloads[w], metric)
		if q == nil || len(q.first) == 0 {
			continue
		}
		out = append(out, Answer{Work: q.work, Table: q.table, All: q.all, First: q.first, Next: q.next, Same: q.same(), Needed: q.blocks(), Doubts: q.doubts(), Also: q.also()})
	}
	return out
}

// times is how many times the value of b the value of a is, nil where the two have
// no ratio.
func (a *Answer) times(of, than string) *analyze.Pair {
	for i := range a.Table.Pairs {
		switch p := a.Table.Pairs[i]; {
		case p.Missing != "":
		case p.A == of && p.B == than:
			return &p
		case p.A == than && p.B == of:
			p.Estimate = inverse(p.Estimate)
			return &p
		}
	}
	return nil
}

// Behind is how many times worse a is than b: how many times the value where less
// is better, what part of it where more is. It is at least 1 of two in the order of
// the ranking, unless the pairs within blocks say otherwise.
func (a *Answer) Behind(of, than string) *analyze.Pair {
	if a.Table.Metric.Better == record.HigherIsBetter {
		of, than = than, of
	}
	return a.times(of, than)
}

// Fast says whether the best is the fastest.
func (a *Answer) Fast() bool {
	return a.Table.Metric.Unit == "ns" && a.Table.Metric.Better != record.HigherIsBetter
}

// Apart says whether two are told apart, after Holm's correction over the table.
func (a *Answer) Apart(x, y string) bool {
	return slices.ContainsFunc(a.Table.Pairs, func(p analyze.Pair) bool {
		return (p.A == x && p.B == y || p.A == y && p.B == x) && p.Holm != nil && *p.Holm < sample.Alpha
	})
}
