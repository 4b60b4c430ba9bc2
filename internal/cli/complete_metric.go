package cli

import (
	"cmp"

	"github.com/spf13/cobra"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/words"
)

// completesMetrics lets a shell complete --metric: with the metrics that the runs on
// the command line have values of, else with those of the life cycle, which every run
// has.
func completesMetrics(c *cobra.Command) {
	completes(c, "metric", func(_ *cobra.Command, dirs []string, _ string) (all []string, _ cobra.ShellCompDirective) {
		seen := map[string]bool{}
		add := func(m record.Metric) {
			if !seen[m.ID] {
				seen[m.ID] = true
				all = append(all, metricWord(m))
			}
		}
		for _, dir := range dirs {
			res, err := readResult(dir)
			if err != nil {
				continue // the command itself says what is wrong
			}
			for w := range res.Workloads {
				for t := range res.Workloads[w].Tables {
					add(res.Workloads[w].Tables[t].Metric)
				}
			}
		}
		if len(all) == 0 {
			for _, m := range record.LifeCycle {
				add(m)
			}
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	})
}

// metricWord is a metric as a shell completes it, with what it is.
func metricWord(m record.Metric) string {
	return words.Clean(m.ID) + "\t" + words.Clean(cmp.Or(m.What, m.Title))
}
