package report

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/common/published"
	"plimsoll/internal/understand/analyze"
)

// A published number is never in a column with a measured one; in text it
// stands in parentheses, in Markdown it is slanted.

// paperTitle names the table and the paper.
func paperTitle(t *analyze.PaperTable) string {
	s := "Beside " + shortCitation(t.Source) + ", " + clean(t.Table)
	if t.Title != "" {
		s += ": " + clean(t.Title)
	}
	return s
}

// paperGrid has a line for each published value, under a line for each row of
// the paper. Rows beside which nothing could stand are left to the notes.
func paperGrid(t *analyze.PaperTable, scale string, mark func(string) string) (g *grid, notes []string) {
	g = &grid{cols: []col{{title: ""}, {title: "image"}, {title: strings.Replace(shortCitation(t.Source), " ", "\n", 1) + "\nmean", right: true},
		{title: "here\nmedian"}, {title: "\n95 %"}, {title: "n", right: true}, {title: "in"}}}
	letters := &footnotes{scale: scale}
	folded := map[string][]string{} // rows by the reason
	var reasons []string
	fold := func(why, row string) {
		if folded[why] == nil {
			reasons = append(reasons, why)
		}
		folded[why] = append(folded[why], row)
	}
	for _, row := range rowsOf(t) {
		cells := row.cells
		if why := sameReason(cells); why != "" {
			fold(why, row.name)
			continue
		}
		head, own := clean(row.name), !sameUnit(cells)
		if !own {
			head += ", " + clean(cells[0].Unit)
		}
		// A note is the row's, and stands at those that have something beside them.
		if i := slices.IndexFunc(cells, func(c *analyze.PaperCell) bool { return c.Note != "" }); i >= 0 {
			head += " (" + letters.of(cells[i].Note) + ")"
		}
		g.rows = append(g.rows, row.heading(head))
		for _, c := range cells {
			g.rows = append(g.rows, paperRow(c, own, mark, letters))
		}
	}
	notes = letters.list()
	for _, why := range reasons {
		notes = append(notes, fmt.Sprintf("Nothing beside %s: %s", firstFew(folded[why]), letters.sentence(why)))
	}
	return g, notes
}

// paperLines are the cells of one row of the paper.
type paperLines struct {
	name  string
	cells []*analyze.PaperCell
}

func (paperLines) heading(s string) row { return row{note: s, style: "head"} }

func rowsOf(t *analyze.PaperTable) []*paperLines {
	var out []*paperLines
	for i := range t.Cells {
		c := &t.Cells[i]
		k := slices.IndexFunc(out, func(r *paperLines) bool { return r.name == c.Row })
		if k < 0 {
			k = len(out)
			out = append(out, &paperLines{name: c.Row})
		}
		out[k].cells = append(out[k].cells, c)
	}
	return out
}

// sameReason is why nothing of ours stands in a whole row, where that has one
// reason and is the study's, not the machine's.
func sameReason(cells []*analyze.PaperCell) string {
	for _, c := range cells {
		if c.Here != nil || c.Missing != cells[0].Missing || !c.NoCounterpart && c.Missing != analyze.NotAsked {
			return ""
		}
	}
	return cells[0].Missing
}

// sameUnit says whether one unit holds for all cells of a row: of those that
// have a baseline in the paper a percentage is made, and of others none.
func sameUnit(cells []*analyze.PaperCell) bool {
	return !slices.ContainsFunc(cells, func(c *analyze.PaperCell) bool { return c.Unit != cells[0].Unit })
}

// paperRow is one value; own says that its unit stands beside it.
func paperRow(c *analyze.PaperCell, own bool, mark func(string) string, letters *footnotes) row {
	cited, unit := short3(c.Published), ""
	if c.CI95 != nil {
		cited += " ± " + short3(*c.CI95)
	}
	if own {
		unit = " " + clean(c.Unit)
		cited += unit
	}
	r := row{cells: []string{"  " + clean(c.Engine), clean(c.Image), mark(cited)}}
	if c.Here == nil {
		r.cells = append(r.cells, "–", letters.of(c.Missing))
		return r
	}
	n := numberOf(*c.Here, 1, 4)
	r.cells = append(r.cells, n.value+unit, n.interval, strconv.Itoa(c.N), cut(clean(c.Env), 40))
	return r
}

// short3 writes a published number as it stands: no digits are added to it.
func short3(v float64) string {
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if i := strings.IndexByte(s, '.'); i >= 0 && len(s) > i+3 {
		s = strconv.FormatFloat(v, 'f', 2, 64)
	}
	return s
}

// footnotes give each text a letter, in the order in which they come.
type footnotes struct {
	texts []string
	scale string
}

// sentence says of what is not asked for whether another size of the study does.
func (f *footnotes) sentence(why string) string {
	if why == analyze.NotAsked && f.scale != "" {
		why = "at the scale " + f.scale + " " + why
	}
	return sentence(clean(why))
}

func (f *footnotes) of(text string) string {
	i := slices.Index(f.texts, text)
	if i < 0 {
		i = len(f.texts)
		f.texts = append(f.texts, text)
	}
	s := ""
	for i++; i > 0; i = (i - 1) / 26 {
		s = string(rune('a'+(i-1)%26)) + s
	}
	return s
}

func (f *footnotes) list() []string {
	var out []string
	for _, t := range f.texts {
		out = append(out, f.of(t)+" "+f.sentence(t))
	}
	return out
}

// firstFew names the first of many.
func firstFew(names []string) string {
	const most = 5
	for i := range names {
		names[i] = clean(names[i])
	}
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// paperLegend says whose numbers are whose.
func paperLegend(source string) string {
	return "Numbers in parentheses are published: " + citation(source) + ". They were measured on other machines; the medians beside them are this run's. What compares are ratios and directions."
}

// shortCitation names a study by its authors and year.
func shortCitation(key string) string {
	if s, ok := published.SourceOf(key); ok {
		return cite(s)
	}
	return clean(key)
}

func parenthesised(s string) string { return "(" + s + ")" }

func (p *page) papers(res *analyze.Result) {
	for i := range res.Papers {
		t := &res.Papers[i]
		g, notes := paperGrid(t, res.Run.Scale, parenthesised)
		p.blank()
		p.text("head", "", paperTitle(t))
		if len(g.rows) > 0 {
			p.grid(g)
		}
		for _, n := range notes {
			p.text("dim", "", n)
		}
		if i+1 == len(res.Papers) || res.Papers[i+1].Source != t.Source {
			p.text("dim", "", paperLegend(t.Source))
		}
	}
}

func mdPapers(out *bufio.Writer, res *analyze.Result) {
	for i := range res.Papers {
		t := &res.Papers[i]
		g, notes := paperGrid(t, res.Run.Scale, func(s string) string { return slant + s + slant })
		fmt.Fprintf(out, "## %s\n\n", mdEscape(paperTitle(t)))
		if len(g.rows) > 0 {
			mdGrid(out, g)
		}
		for _, n := range notes {
			fmt.Fprintf(out, "%s\n\n", mdEscape(n))
		}
	}
	if len(res.Papers) > 0 {
		fmt.Fprintf(out, "%s\n\n", mdEscape(strings.Replace(paperLegend(res.Papers[0].Source), "in parentheses", "that are slanted", 1)))
	}
}

// slant stands for Markdown's own sign, which mdEscape would take away.
const slant = "\ue000"

var errNoPapers = errors.New("the study of this run sets no published tables beside its numbers; the bundled studies with the names of papers do (plimsoll studies)")

func papersText(w io.Writer, res *analyze.Result, opts Options) error {
	if len(res.Papers) == 0 {
		return errNoPapers
	}
	p := newPage(w, opts)
	p.text("head", "", headline(res))
	p.text("", "", protocol(res))
	p.papers(res)
	return p.w.Flush()
}

func papersMarkdown(w io.Writer, res *analyze.Result, _ Options) error {
	if len(res.Papers) == 0 {
		return errNoPapers
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "# %s\n\n%s.\n\n", mdEscape(headline(res)), mdEscape(protocol(res)))
	mdPapers(out, res)
	return out.Flush()
}

// papersCSV has a row for each published value, in its own unit.
func papersCSV(w io.Writer, res *analyze.Result, _ Options) error {
	if len(res.Papers) == 0 {
		return errNoPapers
	}
	rows := [][]string{{"run", "source", "table", "row", "engine", "image", "unit", "better", "published", "published_ci95", "published_sd", "published_from",
		"here", "here_lo", "here_hi", "n", "blocks", "environment", "workload", "metric", "note", "missing"}}
	for _, t := range res.Papers {
		for _, c := range t.Cells {
			r := []string{clean(res.Run.ID), clean(t.Source), clean(t.Table), clean(c.Row), clean(c.Engine), clean(c.Image), clean(c.Unit), string(c.Better),
				plain(&c.Published), plain(c.CI95), plain(c.SD), clean(c.From)}
			r = append(r, three(c.Here)...)
			rows = append(rows, append(r, strconv.Itoa(c.N), strconv.Itoa(c.Blocks), clean(c.Env), clean(c.Workload), clean(c.Metric), clean(c.Note), clean(c.Missing)))
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}

func papersJSON(w io.Writer, res *analyze.Result, _ Options) error {
	if len(res.Papers) == 0 {
		return errNoPapers
	}
	return encode(w, struct {
		Schema int                  `json:"schema"`
		Run    string               `json:"run"`
		Papers []analyze.PaperTable `json:"papers"`
	}{analyze.Schema, res.Run.ID, res.Papers})
}

func papersLaTeX(io.Writer, *analyze.Result, Options) error {
	return errors.New("the published tables have no LaTeX form: choose text, markdown, csv or json")
}
