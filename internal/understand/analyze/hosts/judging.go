package hosts

import (
	"cmp"
	"slices"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/findings"
)

// Judging takes the runs of several hosts one by one, and keeps of each no more than
// claims are judged by: block medians of the metrics that they name. The zero value is
// usable.
type Judging struct {
	labels []string
	runs   map[string][]*analyze.Result
}

// Add takes a run of a host. Of a study without claims there is nothing to keep.
func (j *Judging) Add(label string, r *analyze.Result) {
	if len(r.Claims) == 0 {
		return
	}
	if j.runs == nil {
		j.runs = map[string][]*analyze.Result{}
	}
	if j.runs[label] == nil {
		j.labels = append(j.labels, label)
	}
	j.runs[label] = append(j.runs[label], needed(r))
}

// Claims judges each host by its own runs; nil where no run's study claims anything.
func (j *Judging) Claims() *Claims {
	if len(j.labels) == 0 {
		return nil
	}
	var found []HostFindings
	for _, label := range j.labels {
		var features *record.Features
		for _, r := range j.runs[label] {
			features = cmp.Or(features, r.Features)
		}
		claims, remarks := findings.ClaimsOf(j.runs[label])
		f := findings.Judge(j.runs[label], claims, features)
		f.Remarks = append(remarks, f.Remarks...)
		found = append(found, HostFindings{Label: label, Findings: f})
	}
	return ClaimsOf(found)
}

// needed is of a run what its claims are judged by. The run itself stays as it is.
func needed(r *analyze.Result) *analyze.Result {
	named := metricsOf(r.Claims)
	out := &analyze.Result{Schema: r.Schema, Run: r.Run, Environments: r.Environments, Excluded: r.Excluded, Audit: r.Audit, Features: r.Features, Claims: r.Claims}
	for _, w := range r.Workloads {
		kept := analyze.Workload{ID: w.ID, Name: w.Name, Params: w.Params, Counts: w.Counts}
		for _, t := range w.Tables {
			if !slices.Contains(named, t.Metric.ID) {
				continue
			}
			table := analyze.Table{Metric: t.Metric}
			for _, c := range t.Cells {
				table.Cells = append(table.Cells, analyze.Cell{Env: c.Env, N: c.N, Blocks: c.Blocks, Missing: c.Missing, Median: c.Median, Ratios: c.Ratios, Medians: c.Medians, ByBlock: c.ByBlock})
			}
			kept.Tables = append(kept.Tables, table)
		}
		out.Workloads = append(out.Workloads, kept)
	}
	return out
}

// metricsOf are those that tests and answers of claims name.
func metricsOf(claims []record.Claim) []string {
	var out []string
	for _, c := range claims {
		for _, t := range c.Tests {
			out = analyze.Also(out, t.Metric, t.ToMetric)
		}
		for _, a := range c.Answers {
			out = analyze.Also(out, a.Test.Metric, a.Test.ToMetric)
		}
	}
	return out
}
