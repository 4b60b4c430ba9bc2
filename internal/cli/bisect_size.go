//go:build linux

package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/releases"
)

// bySize says that the size of the program decides, which is read from its file: then
// nothing is measured, and no engine is asked.
func (f *betweenFlags) bySize() bool { return f.metric == releases.Size.ID }

// decidingMetrics are those by which a bisection without a workload can decide.
func decidingMetrics() []record.Metric {
	return append([]record.Metric{releases.Size}, record.LifeCycle...)
}

// sizeTakes refuses what only measuring asks.
func sizeTakes(fl *pflag.FlagSet, rest []string) error {
	var no []string
	if len(rest) > 0 {
		no = append(no, "level ("+strings.Join(rest, " ")+")")
	}
	no = append(no, changed(fl, "engine", "workload", "budget", "seed", "tuned", "error", "record")...)
	if len(no) == 0 {
		return nil
	}
	return withHint(fail(Usage, "--metric %s reads the program's file and measures nothing: it takes no %s", releases.Size.ID, strings.Join(no, " and no ")), "leave it out")
}

// changed are those of some flags that are on the command line.
func changed(fl *pflag.FlagSet, names ...string) (out []string) {
	for _, name := range names {
		if f := fl.Lookup(name); f != nil && f.Changed {
			out = append(out, "--"+name)
		}
	}
	return out
}

// completesMetric lets a shell complete the metric that decides.
func completesMetric(c *cobra.Command) {
	completes(c, "metric", func(*cobra.Command, []string, string) (all []string, _ cobra.ShellCompDirective) {
		for _, m := range decidingMetrics() {
			all = append(all, metricWord(m))
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	})
}
