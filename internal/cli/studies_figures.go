//go:build linux

package cli

import (
	"fmt"
	"strings"

	"plimsoll/internal/common/published/figures"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// showFigures lists the published figures of a study.
func showFigures(w World, name, format string) error {
	list, err := figures.Of(name)
	if err != nil {
		return &exitError{status: Usage, err: err}
	}
	switch format {
	case "json":
		return printJSON[[]figures.Figure](w.Stdout, list)
	case "markdown":
		d := &document.Document{Medium: document.Markdown}
		t := &document.Table{Columns: document.Columns("figure", "in the paper", "kind", "what it shows", "drawn from")}
		for i := range list {
			f := &list[i]
			t.Row(f.Name, words.Clean(f.Shows), string(f.Kind), words.Clean(f.Title), words.Clean(drawnFrom(f)))
		}
		d.Add(t)
		return d.Write(w.Stdout)
	}
	tw := columnsOn(w.paper())
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
