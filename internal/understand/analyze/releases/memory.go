package releases

import (
	"fmt"
	"slices"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// memory is the metric of what the processes of the program had of memory, or those of
// the command line that calls it: wait4(2) says so of each trial.
var memory = record.Metric{ID: "client-rss-peak", Unit: "bytes", Better: record.LowerIsBetter, Title: "memory",
	What: "the largest resident set of a process of the command line, the program itself where nothing is above it"}

// memory adds the series of memory of a workload.
func (r *Releases) memory(res *analyze.Result, from *record.Reader) error {
	values := map[string]map[string]map[int][]float64{} // by workload, environment and block
	blocks := 0
	for t, err := range from.Trials() {
		if err != nil {
			return fmt.Errorf("reading the trials: %w", err)
		}
		if t.Warmup || t.Failure != nil || t.Client == nil || t.Client.MaxRSS <= 0 {
			continue
		}
		of := values[t.Workload]
		if of == nil {
			of = map[string]map[int][]float64{}
			values[t.Workload] = of
		}
		if of[t.Env] == nil {
			of[t.Env] = map[int][]float64{}
		}
		of[t.Env][t.Block] = append(of[t.Env][t.Block], float64(t.Client.MaxRSS))
		blocks = max(blocks, t.Block+1)
	}
	for w := range res.Workloads {
		work := &res.Workloads[w]
		table := &analyze.Table{Metric: memory}
		for i := range res.Environments {
			env := res.Environments[i].ID
			c := analyze.Cell{Env: env, Missing: "nobody says how much memory its processes had"}
			var all []float64
			c.ByBlock = make([]float64, blocks) // 0 is no value
			for b, v := range values[work.ID][env] {
				c.ByBlock[b] = stats.Median(stats.Sorted(v))
				all = append(all, v...)
			}
			if len(all) > 0 {
				sorted := stats.Sorted(all)
				in, ok := stats.MedianInterval(sorted, stats.Level)
				c.Median, c.Missing = sample.NewEstimate(stats.Median(sorted), in, ok), ""
			}
			table.Cells = append(table.Cells, c)
		}
		if slices.ContainsFunc(table.Cells, func(c analyze.Cell) bool { return c.Median != nil }) {
			r.gather(res, work, table)
		}
	}
	return nil
}
