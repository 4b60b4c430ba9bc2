package evaluate

import (
	"slices"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/ablation"
	"plimsoll/internal/understand/analyze/sample"
)

// ablations are the waterfalls of a run: of each workload's metrics that the study
// names, else of the one that it shows first.
func ablations(res *analyze.Result, run *record.Run) []*ablation.Waterfall {
	var out []*ablation.Waterfall
	for a := range run.Study.Ablations {
		for w := range res.Workloads {
			work := &res.Workloads[w]
			for _, id := range taken(work, run.Study.Metrics) {
				x := waterfallOf(&run.Study.Ablations[a], work, id)
				if x == nil {
					continue
				}
				if id == record.DensityFootprint {
					for _, part := range footprintParts {
						if p := waterfallOf(&run.Study.Ablations[a], work, record.DensityPart+part); p != nil {
							x.Parts = append(x.Parts, p)
						}
					}
				}
				out = append(out, x)
			}
		}
	}
	return out
}

// footprintParts are those whose sum a footprint is, and what the whole machine has
// less of meanwhile.
var footprintParts = []string{"payload", "monitor", "daemon", "kernel", "host", "free"}

// taken are the metrics that are taken apart: all that the study names and that were
// measured, else the first that was.
func taken(work *analyze.Workload, named []string) []string {
	measured := slices.DeleteFunc(slices.Clone(work.Show), func(id string) bool { return !work.Table(id).Measured() })
	if len(named) == 0 && len(measured) > 1 {
		measured = measured[:1]
	}
	return measured
}

func waterfallOf(a *record.Ablation, work *analyze.Workload, metric string) *ablation.Waterfall {
	t := work.Table(metric)
	if !t.Measured() {
		return nil
	}
	return ablation.Of(a, work.ID, t.Metric, columnOf(t))
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
