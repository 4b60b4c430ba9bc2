package export

import (
	"slices"

	"plimsoll/internal/record"
)

// kind is the type of a column's cells.
type kind int

const (
	text kind = iota
	integer
	number
	boolean
)

// cell is one value of a row. Which field holds it is the column's kind; where
// none is set the cell is empty.
type cell struct {
	set  bool
	text string
	int  int64
	num  float64
	bool bool
}

// column is one column of the long table. CSV, JSON and Parquet all come from
// one list of them, so that they cannot disagree.
type column struct {
	name string
	kind kind
	get  func(*row) cell
}

func textCell(s string) cell { return cell{set: s != "", text: s} }
func boolCell(b bool) cell   { return cell{set: true, bool: b} }
func intCell(i int64) cell   { return cell{set: true, int: i} }

// columns are those of a run: the fixed ones, then one for each factor and one
// for each parameter. The prefixes keep the three apart.
func columns(run *record.Run) []column {
	out := slices.Clone(fixed)
	for _, name := range factors(run) {
		out = append(out, column{"factor_" + name, text, func(r *row) cell { return textCell(r.env.Levels[name]) }})
	}
	for _, name := range params(run) {
		out = append(out, column{"param_" + name, text, func(r *row) cell {
			v, _ := r.param(name)
			return textCell(v)
		}})
	}
	return out
}

// fixed are the columns that every run has; docs/exports.md explains each.
var fixed = []column{
	{"run", text, func(r *row) cell { return textCell(r.run.ID) }},
	{"study", text, func(r *row) cell { return textCell(r.run.Study.Name) }},
	{"block", integer, func(r *row) cell { return intCell(int64(r.trial.Block)) }},
	{"seq", integer, func(r *row) cell { return intCell(int64(r.trial.Seq)) }},
	{"warmup", boolean, func(r *row) cell { return boolCell(r.trial.Warmup) }},
	{"environment", text, func(r *row) cell { return textCell(r.env.ID) }},
	{"engine", text, func(r *row) cell { return textCell(r.env.Engine) }},
	{"baseline", text, func(r *row) cell { return textCell(r.env.Baseline) }},
	{"workload", text, func(r *row) cell { return textCell(r.workload.ID) }},
	{"metric", text, func(r *row) cell {
		if r.metric == nil {
			return cell{}
		}
		return textCell(r.metric.ID)
	}},
	{"unit", text, func(r *row) cell {
		if r.metric == nil {
			return cell{}
		}
		return textCell(r.metric.Unit)
	}},
	{"better", text, func(r *row) cell {
		if r.metric == nil {
			return cell{}
		}
		return textCell(string(betterOf(r.metric)))
	}},
	{"value", number, func(r *row) cell { return cell{set: r.metric != nil, num: r.value} }},
	{"failure", text, func(r *row) cell {
		if r.trial.Failure == nil {
			return cell{}
		}
		return textCell(string(r.trial.Failure.Class))
	}},
	{"censored", boolean, func(r *row) cell { return boolCell(r.censored()) }},
	{"limit_ns", integer, func(r *row) cell {
		return cell{set: r.censored() && r.run.Protocol.TrialLimitNS > 0, int: r.run.Protocol.TrialLimitNS}
	}},
	{"tuned", boolean, func(r *row) cell { return boolCell(r.run.Protocol.Tuned) }},
}
