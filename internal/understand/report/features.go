package report

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"

	"plimsoll/internal/record"
)

// FeatureFormats lists the formats of WriteFeatures.
func FeatureFormats() []string { return []string{"text", "markdown", "json", "csv"} }

// FeatureOptions are the options of a feature table.
type FeatureOptions struct {
	Options
	// Detail also shows what was run for each cell, and what came back.
	Detail bool
}

// WriteFeatures renders a feature table. A published value is shown where it
// is another than ours, in brackets, and never stands for one of ours.
func WriteFeatures(w io.Writer, format string, f *record.Features, opts FeatureOptions) error {
	switch format {
	case "text":
		return featuresText(w, f, opts)
	case "markdown":
		return featuresMarkdown(w, f)
	case "json":
		return encode(w, f)
	case "csv":
		return featuresCSV(w, f)
	}
	return fmt.Errorf("no format %q for features: choose one of %s", format, strings.Join(FeatureFormats(), ", "))
}

func featuresText(w io.Writer, f *record.Features, opts FeatureOptions) error {
	p := newPage(w, opts.Options)
	p.features(f, opts.Detail)
	p.blank()
	p.text("", "engines  ", versionsOf(f))
	p.text("", "machine  ", machine(f.Host))
	return p.w.Flush()
}

// features is the table with its notes, or with the evidence of each cell.
func (p *page) features(f *record.Features, detail bool) {
	p.text("head", "", featuresHead(f))
	if f.Tried() {
		p.blank()
		p.parts(featuresGrid(f, p.width/3))
		p.blank()
		p.text("dim", "", featuresLegend)
	}
	if detail {
		p.featureDetails(f)
		return
	}
	for _, n := range featureNotes(f) {
		p.blank()
		p.text("head", "", n.title)
		for _, l := range n.lines {
			p.text("", " - ", l)
		}
	}
}

func featuresHead(f *record.Features) string {
	return fmt.Sprintf("%s of %s, each tried on this machine", Plural(len(f.Rows), "feature"), Plural(len(triedEngines(f)), "engine"))
}

const featuresLegend = "part: partial; -: could not be tried here; [yes], [part], [no]: the value that was published " +
	"(baresi2024, Table 2), where it is another or nothing could be tried."

// triedEngines are the columns of the table.
func triedEngines(f *record.Features) []string {
	var names []string
	for _, e := range f.Engines {
		if e.Missing == "" {
			names = append(names, e.Name)
		}
	}
	return names
}

// featuresGrid has a line for each feature, below its group, and more where
// its name is longer than limit, which 0 is not.
func featuresGrid(f *record.Features, limit int) *grid {
	g := &grid{cols: []col{{title: "feature"}}}
	names := triedEngines(f)
	for _, n := range names {
		g.cols = append(g.cols, col{title: clean(n)})
	}
	group := ""
	for _, r := range f.Rows {
		if r.Group != group {
			group = r.Group
			g.rows = append(g.rows, row{cells: append([]string{clean(group)}, make([]string, len(names))...), style: "head"})
		}
		title := []string{clean(r.Feature)}
		if limit > 0 {
			title = wrap(title[0], limit-2, "  ")
		}
		for i, line := range title {
			cells := append([]string{"  " + line}, make([]string, len(names))...)
			for k, n := range names {
				if i == 0 {
					cells[k+1] = featureCell(r.Cells[n])
				}
			}
			g.rows = append(g.rows, row{cells: cells})
		}
	}
	return g
}

// shortValue is a value as it stands in a cell.
func shortValue(v string) string {
	switch record.FeatureValue(v) {
	case record.FeaturePartial:
		return "part"
	case record.FeatureUntried, "":
		return "-"
	}
	return clean(v)
}

func featureCell(c record.FeatureCell) string {
	s := shortValue(string(c.Value))
	if c.Published != "" && string(c.Value) != c.Published {
		s += " [" + shortValue(c.Published) + "]"
	}
	return s
}

// note is a list below the table.
type note struct {
	title string
	lines []string
}

// featureNotes are what a reader asks of the table: why a value is another than
// the published one, why it is partial, why nothing was tried.
func featureNotes(f *record.Features) []note {
	var differs, partial []string
	untried := map[string][]string{} // by reason
	var reasons []string
	for _, r := range f.Rows {
		for _, n := range triedEngines(f) {
			c := r.Cells[n]
			line := fmt.Sprintf("%s, %s: %s", clean(r.Feature), clean(n), c.Value)
			switch {
			case c.Differs():
				differs = append(differs, because(fmt.Sprintf("%s [published: %s]", line, clean(c.Published)), c.Why))
			case c.Value == record.FeaturePartial:
				partial = append(partial, because(line, c.Why))
			case c.Value == record.FeatureUntried:
				why := clean(c.Why)
				if untried[why] == nil {
					reasons = append(reasons, why)
				}
				untried[why] = append(untried[why], clean(r.ID)+" ("+clean(n)+")")
			}
		}
	}
	var missing, lines []string
	for _, why := range reasons {
		lines = append(lines, strings.Join(untried[why], ", ")+": "+sentence(why))
	}
	for _, e := range f.Engines {
		if e.Missing != "" {
			l := clean(e.Name) + ": " + sentence(clean(e.Missing))
			if e.Fix != "" {
				l += " Try: " + clean(e.Fix)
			}
			missing = append(missing, l)
		}
	}
	notes := []note{
		{"Other than published", differs}, {"Partial", partial}, {"Could not be tried here", lines}, {"Engines that are not here", missing},
	}
	return slices.DeleteFunc(notes, func(n note) bool { return len(n.lines) == 0 })
}

// because adds a reason, where there is one.
func because(s, why string) string {
	if why != "" {
		s += "; " + clean(why)
	}
	return sentence(s)
}

// featureDetails shows each cell with its evidence.
func (p *page) featureDetails(f *record.Features) {
	for _, r := range f.Rows {
		p.blank()
		p.text("head", "", clean(r.Feature)+": "+clean(r.Means))
		for _, e := range f.Engines {
			c, ok := r.Cells[e.Name]
			if !ok {
				continue
			}
			line := clean(e.Name) + ": " + string(c.Value)
			if c.Published != "" {
				line += " [published: " + clean(c.Published) + "]"
			}
			p.text("", " - ", because(line, c.Why))
			for _, x := range c.Evidence {
				if len(x.Command) > 0 {
					p.text("", "     $ ", clean(strings.Join(x.Command, " ")))
				}
				for l := range strings.Lines(x.Output) {
					if l = clean(l); l != "" {
						p.text("dim", "       ", l)
					}
				}
				if x.Status != 0 {
					p.line("dim", fmt.Sprintf("       status %d", x.Status))
				}
			}
		}
	}
}

func versionsOf(f *record.Features) string {
	var parts []string
	for _, e := range f.Engines {
		if e.Missing == "" {
			parts = append(parts, strings.TrimSpace(clean(e.Name)+" "+clean(e.Version)))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

func featuresMarkdown(w io.Writer, f *record.Features) error {
	out := bufio.NewWriter(w)
	mdFeatures(out, f, "#")
	fmt.Fprintf(out, "\nEngines: %s. Machine: %s.\n", mdEscape(versionsOf(f)), mdEscape(machine(f.Host)))
	return out.Flush()
}

// mdFeatures is the table with its notes, under a heading of this level.
func mdFeatures(out *bufio.Writer, f *record.Features, level string) {
	fmt.Fprintf(out, "%s %s\n\n", level, mdEscape(featuresHead(f)))
	if f.Tried() {
		mdGrid(out, featuresGrid(f, 0))
		fmt.Fprintf(out, "\n%s\n", mdEscape(featuresLegend))
	}
	for _, n := range featureNotes(f) {
		fmt.Fprintf(out, "\n%s# %s\n\n", level, mdEscape(n.title))
		for _, l := range n.lines {
			fmt.Fprintf(out, "- %s\n", mdEscape(l))
		}
	}
}

// featuresCSV has a line for each cell.
func featuresCSV(w io.Writer, f *record.Features) error {
	out := csv.NewWriter(w)
	rows := [][]string{{"group", "id", "feature", "engine", "version", "value", "published", "why"}}
	for _, r := range f.Rows {
		for _, e := range f.Engines {
			c := r.Cells[e.Name]
			rows = append(rows, []string{clean(r.Group), clean(r.ID), clean(r.Feature), clean(e.Name), clean(e.Version), string(c.Value), clean(c.Published), clean(c.Why)})
		}
	}
	return out.WriteAll(rows)
}
