package evaluate

import (
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/ablation"
	"plimsoll/internal/understand/analyze/sample"
)

// ablations are the waterfalls of a run: of each workload's first metric, and of the
// others that it shows.
func ablations(res *analyze.Result, run *record.Run) []*ablation.Waterfall {
	var out []*ablation.Waterfall
	for a := range run.Study.Ablations {
		for w := range res.Workloads {
			work := &res.Workloads[w]
			for _, id := range work.Show {
				t := work.Table(id)
				if !t.Measured() {
					continue
				}
				if x := ablation.Of(&run.Study.Ablations[a], work.ID, t.Metric, columnOf(t)); x != nil {
					out = append(out, x)
				}
			}
		}
	}
	return out
}

func columnOf(t *analyze.Table) ablation.Column {
	return func(env string) ([]float64, *sample.Estimate, string) {
		c := t.Cell(env)
		switch {
		case c == nil:
			return nil, nil, "it was not measured"
		case c.Median == nil:
			return nil, nil, c.Missing
		}
		return c.ByBlock, c.Median, ""
	}
}
