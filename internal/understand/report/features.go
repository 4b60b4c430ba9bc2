package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// FeatureOptions are the options of a feature table.
type FeatureOptions struct {
	Options
	// Detail also shows what was run for each cell, and what came back.
	Detail bool
}

// tried is a feature table to write.
type tried struct {
	*record.Features
	detail bool
}

var featureFormats = kindOf("features", featuresDocument,
	jsonOf(func(f tried) *record.Features { return f.Features }),
	format[tried]{"csv", asCSV(featuresCSV)},
)

// FeatureFormats lists the formats of WriteFeatures.
func FeatureFormats() []string { return featureFormats.Formats() }

// WriteFeatures renders a feature table. A published value is shown where it
// is another than ours, in brackets, and never stands for one of ours.
func WriteFeatures(w io.Writer, format string, f *record.Features, opts FeatureOptions) error {
	return featureFormats.Write(w, format, tried{f, opts.Detail}, opts.Options)
}

func featuresDocument(d *document.Document, f tried, _ Options) {
	addFeatures(d, f.Features, 1, f.detail)
	engines, host := versionsOf(f.Features), machine(f.Host)
	if d.Medium == document.Markdown {
		d.Para("Engines: " + engines + ". Machine: " + host + ".")
		return
	}
	d.Gap(document.Text)
	d.Led("engines  ", engines, document.Plain)
	d.Led("machine  ", host, document.Plain)
}

// addFeatures is the table with its notes, or with the evidence of each cell.
func addFeatures(d *document.Document, f *record.Features, level int, detail bool) {
	d.Heading(level, featuresHead(f))
	if f.Tried() {
		t := featuresTable(f, d)
		// The groups are lines of the table: what a reader of it needs is there.
		t.Caption, t.Label = words.Sentence(featuresHead(f))+" "+featuresLegend, "features"
		d.Gap(document.Text)
		d.Add(t)
		d.Gap(document.Text)
		d.Gap(document.Markdown)
		d.Legend(featuresLegend)
	} else {
		d.Gap(document.Markdown)
	}
	if detail && d.Medium == document.Text {
		addFeatureDetails(d, f)
		return
	}
	for _, n := range featureNotes(f) {
		d.Heading(level+1, n.title)
		d.List(" - ", document.Items(n.lines))
	}
}

func featuresHead(f *record.Features) string {
	return fmt.Sprintf("%s of %s, each tried on this machine", words.Plural(len(f.Rows), "feature"), words.Plural(len(triedEngines(f)), "engine"))
}

const featuresLegend = "part: partial; -: could not be tried here; [yes], [part], [no]: the value that was published " +
	"(baresi2024, Table 2), where it differs or nothing could be tried."

// here are the engines that are on this machine.
func here(f *record.Features) []record.FeatureEngine {
	return lists.Filter(f.Engines, func(e record.FeatureEngine) bool { return e.Missing == "" })
}

// triedEngines are the columns of the table.
func triedEngines(f *record.Features) []string {
	return lists.Map(here(f), func(e record.FeatureEngine) string { return e.Name })
}

// featuresTable has a line for each feature, below its group, and more where
// its name is longer than a page of fixed width has room for.
func featuresTable(f *record.Features, d *document.Document) *document.Table {
	names := triedEngines(f)
	t := &document.Table{Columns: document.Columns("feature"), Parts: true}
	for _, n := range names {
		t.Columns = append(t.Columns, document.Column{Title: words.Clean(n)})
	}
	group := ""
	for _, r := range f.Rows {
		if r.Group != group {
			group = r.Group
			t.Rows = append(t.Rows, document.Row{Cells: append(document.Cells(words.Clean(group)), make([]document.Cell, len(names))...), Tone: document.Head})
		}
		title := []string{words.Clean(r.Feature)}
		if d.Medium == document.Text {
			title = document.Wrap(title[0], d.Width/3-2, "  ")
		}
		for i, line := range title {
			cells := append([]string{"  " + line}, make([]string, len(names))...)
			for k, n := range names {
				if i == 0 {
					cells[k+1] = featureCell(r.Cells[n])
				}
			}
			t.Row(cells...)
		}
	}
	return t
}

// shortValue is a value as it stands in a cell.
func shortValue(v string) string {
	switch record.FeatureValue(v) {
	case record.FeaturePartial:
		return "part"
	case record.FeatureUntried, "":
		return "-"
	}
	return words.Clean(v)
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
	var differs, open, partial []string
	var untried analyze.Grouped[string, string] // by reason
	for _, r := range f.Rows {
		for _, n := range triedEngines(f) {
			c := r.Cells[n]
			line := fmt.Sprintf("%s, %s: %s", words.Clean(r.Feature), words.Clean(n), c.Value)
			switch {
			case c.Differs():
				differs = append(differs, because(publishedBeside(line, c), c.Why))
			case c.Lacking != "" && c.LeavesOpen(cmp.Or(c.Published, string(record.FeatureYes))):
				open = append(open, because(publishedBeside(line, c), c.Why))
			case c.Value == record.FeaturePartial:
				partial = append(partial, because(line, c.Why))
			case c.Value == record.FeatureUntried:
				untried.Add(words.Clean(c.Why), words.Clean(r.ID)+" ("+words.Clean(n)+")")
			}
		}
	}
	var missing, lines []string
	for why, cells := range untried.All() {
		lines = append(lines, strings.Join(cells, ", ")+": "+words.Sentence(why))
	}
	for _, e := range f.Engines {
		if e.Missing != "" {
			l := words.Clean(e.Name) + ": " + words.Sentence(words.Clean(e.Missing))
			if e.Fix != "" {
				l += " Try: " + words.Clean(e.Fix)
			}
			missing = append(missing, l)
		}
	}
	notes := []note{
		{"Other than published", differs}, {"Undecided: this machine can try no more", open}, {"Partial", partial}, {"Could not be tried here", lines}, {"Engines not here", missing},
	}
	return slices.DeleteFunc(notes, func(n note) bool { return len(n.lines) == 0 })
}

// publishedBeside adds what was published, where anything was.
func publishedBeside(s string, c record.FeatureCell) string {
	if c.Published == "" {
		return s
	}
	return s + " [published: " + words.Clean(c.Published) + "]"
}

// because adds a reason, where there is one.
func because(s, why string) string {
	if why != "" {
		s += "; " + words.Clean(why)
	}
	return words.Sentence(s)
}

// addFeatureDetails shows each cell with its evidence.
func addFeatureDetails(d *document.Document, f *record.Features) {
	for _, r := range f.Rows {
		d.Heading(2, words.Clean(r.Feature)+": "+words.Clean(r.Means))
		for _, e := range f.Engines {
			c, ok := r.Cells[e.Name]
			if !ok {
				continue
			}
			line := words.Clean(e.Name) + ": " + string(c.Value)
			d.Led(" - ", because(publishedBeside(line, c), c.Why), document.Plain)
			for _, x := range c.Evidence {
				d.Led("     $ ", words.Clean(strings.Join(x.Command, " ")), document.Plain)
				for l := range strings.Lines(x.Output) {
					d.Led("       ", words.Clean(l), document.Dim)
				}
				if x.Status != 0 {
					d.Led("       ", fmt.Sprintf("status %d", x.Status), document.Dim)
				}
			}
		}
	}
}

func versionsOf(f *record.Features) string {
	parts := lists.Map(here(f), func(e record.FeatureEngine) string {
		return strings.TrimSpace(words.Clean(e.Name) + " " + words.Clean(e.Version))
	})
	return cmp.Or(strings.Join(parts, ", "), "none")
}

// featuresCSV has a line for each cell.
func featuresCSV(f tried, _ Options) [][]string {
	rows := [][]string{{"group", "id", "feature", "engine", "version", "value", "published", "why", "lacking"}}
	for _, r := range f.Rows {
		for _, e := range f.Engines {
			c := r.Cells[e.Name]
			rows = append(rows, []string{words.Clean(r.Group), words.Clean(r.ID), words.Clean(r.Feature), words.Clean(e.Name), words.Clean(e.Version), string(c.Value), words.Clean(c.Published), words.Clean(c.Why), words.Clean(c.Lacking)})
		}
	}
	return rows
}
