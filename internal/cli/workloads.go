package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"plimsoll/internal/workload"
)

func workloadsCommand(w World) *cobra.Command {
	format := "text"
	c := &cobra.Command{
		Use:     "workloads",
		Short:   "List what can run inside a container",
		Args:    cobra.NoArgs,
		Example: "  plimsoll workloads\n  plimsoll workloads --format json",
		RunE: func(*cobra.Command, []string) error {
			all := workload.Catalogue()
			if format == "json" {
				return printJSON(w.Stdout, all)
			}
			tw := tabwriter.NewWriter(w.Stdout, 0, 4, 2, ' ', 0)
			fmt.Fprintln(tw, "WORKLOAD\tIMAGE\tPARAMETERS\tWHAT IT IS")
			for _, x := range all {
				var ps []string
				for _, name := range slices.Sorted(maps.Keys(x.Parameters)) {
					ps = append(ps, name+"="+strings.Join(x.Parameters[name], "|"))
				}
				fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", x.Name, dash(x.Image), dash(strings.Join(ps, " ")), x.What)
			}
			return tw.Flush()
		},
	}
	formatFlag(c, &format, "text", "json")
	return c
}

// dash stands for nothing in a table.
func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
