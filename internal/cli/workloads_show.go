//go:build linux

package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/measure/workload"
)

func workloadsShowCommand(w World) *cobra.Command {
	format := "text"
	c := &cobra.Command{
		Use:               "show WORKLOAD",
		Short:             "Show all about a workload: what it runs, its parameters and its metrics",
		Args:              cobra.ExactArgs(1),
		Example:           "  plimsoll workloads show iperf3\n  plimsoll workloads show ./mine.yaml --format json",
		ValidArgsFunction: completeWorkloads,
		RunE: func(_ *cobra.Command, args []string) error {
			x, err := findWorkload(args[0])
			if err != nil {
				return err
			}
			return showWorkload(w, x, format)
		},
	}
	formatFlag(c, &format, "text", "json")
	return c
}

// findWorkload gives a workload of the catalogue, or of a file.
func findWorkload(nameOrPath string) (workload.Workload, error) {
	if !yamlfile.IsPath(nameOrPath) {
		x, err := workload.Find(nameOrPath)
		if err != nil {
			names, _ := completeWorkloads(nil, nil, "")
			return x, didYouMean(fail(Usage, "%w", err), nameOrPath, names, "plimsoll workloads lists them; a file is given by its path, such as ./mine.yaml")
		}
		return x, nil
	}
	data, err := yamlfile.ReadGiven(nameOrPath)
	if err != nil {
		return workload.Workload{}, fail(Usage, "reading the workload: %w", err)
	}
	x, err := workload.Read(nameOrPath, data)
	if err != nil {
		return x, &exitError{status: Usage, err: err}
	}
	return x, nil
}

type shownWorkload struct {
	workload.Workload
	Roles   []workload.RoleDescription `json:"roles,omitempty"`
	Metrics any                        `json:"metrics"`
}

func showWorkload(w World, x workload.Workload, format string) error {
	d, fromFile := x.Describe()
	if format == "json" {
		out := shownWorkload{x, d.Roles, x.Metrics}
		if fromFile {
			out.Metrics = d.Metrics // each with its source
		}
		return printJSON[shownWorkload](w.Stdout, out)
	}
	out := w.paper()
	fmt.Fprintf(out, "%s (%s)\n%s\n", x.Name, x.Group, x.What)
	if x.Image != "" {
		fmt.Fprintf(out, "Image: %s\n", x.Image)
	}
	if n := needsText(x); n != "" {
		fmt.Fprintf(out, "Needs: %s\n", n)
	}
	tw := columnsOn(out)
	if len(x.Parameters) > 0 {
		fmt.Fprintln(tw, "\nPARAMETER\tLEVELS, THE DEFAULT FIRST\tSMALL\tWHAT IT IS")
		for _, p := range slices.Sorted(maps.Keys(x.Parameters)) {
			small, ok := x.Small[p]
			if !ok {
				small = x.Parameters[p][0]
			}
			fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", p, levelsOf(x, p), small, dash(x.About[p]))
		}
	}
	for _, r := range d.Roles {
		where := r.On
		if r.Pod != "" {
			where += " of pod " + r.Pod
		}
		fmt.Fprintf(tw, "\nROLE\t%s, on a %s\n", r.Name, where)
		for _, s := range r.Steps {
			fmt.Fprintf(tw, "%s\t%s\n", s.Key, s.Text)
		}
		if err := tw.Flush(); err != nil {
			return err
		}
	}
	if fromFile {
		fmt.Fprintln(tw, "\nMETRIC\tUNIT\tBETTER\tWHAT IT IS\tWHERE FROM\tONLY WITH")
		for _, m := range d.Metrics {
			fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", m.ID, m.Unit, m.Better, m.What, m.From, dash(m.When))
		}
	} else if len(x.Metrics) > 0 {
		fmt.Fprintln(tw, "\nMETRIC\tUNIT\tBETTER\tWHAT IT IS")
		for _, m := range x.Metrics {
			fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", m.ID, m.Unit, m.Better, m.What)
		}
	}
	return tw.Flush()
}

// levelsOf lists the levels of a parameter.
func levelsOf(x workload.Workload, parameter string) string {
	out := strings.Join(x.Parameters[parameter], " ")
	if n, ok := x.Numbers[parameter]; ok {
		out += fmt.Sprintf(", any from %d to %d", n.Min, n.Max)
	}
	return out
}

func needsText(x workload.Workload) string {
	n := x.NeedsOf(nil)
	var parts []string
	for _, p := range []struct {
		on   bool
		text string
	}{
		{n.Network, "a network between its containers"}, {n.Detached, "an engine that keeps containers running by itself"},
		{n.Root, "containers of root"}, {n.ICMP, "sockets for echo requests"}, {n.CPUs > 0, fmt.Sprintf("%d processors", n.CPUs)},
		{n.MemoryBytes > 0, fmt.Sprintf("%d MiB of memory", n.MemoryBytes>>20)},
		{n.DiskBytes > 0, fmt.Sprintf("%d MiB on disk", n.DiskBytes>>20)},
	} {
		if p.on {
			parts = append(parts, p.text)
		}
	}
	return strings.Join(parts, ", ")
}
