package evaluate

import (
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/analyze/steady"
)

// steadiness is what states of the machine do to the scatter of what stands for each
// workload.
func steadiness(res *analyze.Result) (out []*steady.Table) {
	for w := range res.Workloads {
		work := &res.Workloads[w]
		t := work.First("")
		if t == nil {
			continue
		}
		out = append(out, steady.Of(res.Environments, work.ID, t.Metric, func(env string) ([]float64, *sample.Estimate, string) {
			return columnOf(t)(env)
		})...)
	}
	return out
}
