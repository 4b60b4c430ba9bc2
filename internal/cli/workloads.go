//go:build linux

package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/measure/workload"
)

func workloadsCommand(w World) *cobra.Command {
	format := "text"
	var try tryFlags
	c := &cobra.Command{
		Use:   "workloads [WORKLOAD]",
		Short: "List what can run inside a container, show one, or try one",
		Long: `Lists the workloads of the catalogue. A workload is one of those, or the path of
a file such as ./mine.yaml. With --try, one small trial of it runs in each of the
engines named and in native, and its numbers are printed: they come from one
trial, and are not a measurement.`,
		Args: cobra.MaximumNArgs(1),
		Example: `  plimsoll workloads
  plimsoll workloads show iperf3
  plimsoll workloads iperf3 --try docker
  plimsoll workloads ./mine.yaml --try docker,podman --set seconds=5`,
		ValidArgsFunction: completeWorkloads,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(try.engines) == 0 && (cmd.Flags().Changed("set") || cmd.Flags().Changed("full")):
				return withHint(fail(Usage, "--set and --full are for --try, and no engine is named to try it in"), "plimsoll workloads WORKLOAD --try ENGINE --set NAME=LEVEL")
			case len(args) == 0 && len(try.engines) > 0:
				return fail(Usage, "--try needs the name of a workload or the path of its file")
			case len(args) == 0:
				return listWorkloads(w, format)
			}
			x, err := findWorkload(args[0])
			if err != nil {
				return err
			}
			if len(try.engines) == 0 {
				return showWorkload(w, x, format)
			}
			return tryWorkload(cmd.Context(), w, x, try, format)
		},
	}
	try.add(c, w)
	formatFlag(c, &format, "text", "json")
	c.AddCommand(workloadsShowCommand(w))
	return c
}

func completeWorkloads(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	names := lists.Map(workload.Catalogue(), func(x workload.Workload) string { return x.Name })
	return names, cobra.ShellCompDirectiveDefault
}

func listWorkloads(w World, format string) error {
	all := workload.Catalogue()
	if format == "json" {
		return printJSON[[]workload.Workload](w.Stdout, all)
	}
	out := w.paper()
	narrow := widthOf(out) > 0 && widthOf(out) < pipeWidth // then what it is has the room
	tw := columnsOn(out)
	line := func(group, name, parameters, what string) {
		if narrow {
			fmt.Fprintf(tw, "%s\t%s\t%s\n", group, name, what)
		} else {
			fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", group, name, parameters, what)
		}
	}
	line("GROUP", "WORKLOAD", "PARAMETERS", "WHAT IT IS")
	group := ""
	for _, x := range all {
		g := x.Group
		if g == group {
			g = ""
		}
		group = x.Group
		line(g, x.Name, dash(strings.Join(slices.Sorted(maps.Keys(x.Parameters)), " ")), x.What)
	}
	if narrow {
		fmt.Fprintln(tw, "\nplimsoll workloads show WORKLOAD says what can be set.")
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if err := workload.Broken(); err != nil {
		return fail(Failed, "workloads of the catalogue that can't be read:\n%w", err)
	}
	return nil
}

// dash stands for nothing in a table.
func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
