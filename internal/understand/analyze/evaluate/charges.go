package evaluate

import (
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/kernel"
	"plimsoll/internal/understand/analyze/sample"
)

// charges are what the kernel charges for mechanisms, environment by environment.
func charges(res *analyze.Result) (out []*kernel.Charges) {
	for e := range res.Environments {
		var choices []kernel.Choice
		for w := range res.Workloads {
			work := &res.Workloads[w]
			if work.Name == kernel.Workload {
				choices = append(choices, kernel.Choice{Params: work.Params, Value: func(metric string) ([]float64, *sample.Estimate, string) {
					return columnOf(work.Table(metric))(res.Environments[e].ID)
				}})
			}
		}
		if c := kernel.Of(res.Environments[e].ID, choices); c != nil {
			out = append(out, c)
		}
	}
	return out
}
