//go:build linux

package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/published/figures"
)

// figuresList shows the published figures of a study instead of its text.
type figuresList struct {
	wanted bool
	format string
}

func (l *figuresList) add(c *cobra.Command) {
	l.format = "text"
	c.Flags().BoolVar(&l.wanted, "figures", false, "list the published figures of the study, how each is drawn and why some are not, instead")
	formatFlag(c, &l.format, "text", "json")
}

func (l *figuresList) show(w World, name string) error {
	list, err := figures.Of(name)
	if err != nil {
		return &exitError{status: Usage, err: err}
	}
	if l.format == "json" {
		return printJSON(w.Stdout, list)
	}
	tw := tabwriter.NewWriter(w.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, "FIGURE\tIN THE PAPER\tKIND\tWHAT IT SHOWS\tDRAWN FROM")
	for _, f := range list {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", f.Name, f.Shows, f.Kind, f.Title, drawnFrom(&f))
	}
	return tw.Flush()
}

// drawnFrom says which numbers a figure is drawn from, or why it is not.
func drawnFrom(f *figures.Figure) string {
	var parts []string
	if f.Workload != "" {
		s := f.Workload
		for _, word := range []string{f.Metric, f.Part} {
			if word != "" {
				s += "/" + word
			}
		}
		if f.Over != "" {
			s += " over " + f.Over
		}
		parts = append(parts, s)
	}
	if f.Table != "" {
		parts = append(parts, "published "+f.Table)
	}
	if f.Because != "" {
		parts = append(parts, f.Because)
	}
	return strings.Join(parts, ", ")
}
