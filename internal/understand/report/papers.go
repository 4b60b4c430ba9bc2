package report

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/published"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// A published number is never in a column with a measured one; in text it
// stands in parentheses, in Markdown it is slanted.

var papersFormats = kindOf("the published tables", papersDocument,
	format[*analyze.Result]{"csv", asCSV(papersCSV)},
	jsonOf(func(res *analyze.Result) papersJSON { return papersJSON{analyze.Schema, res.Run.ID, res.Papers} }),
)

func papersDocument(d *document.Document, res *analyze.Result, _ Options) {
	begin(d, "", res)
	addPapers(d, res)
	d.Gap(document.Markdown)
}

func addPapers(d *document.Document, res *analyze.Result) {
	for i := range res.Papers {
		p := &res.Papers[i]
		t, notes := paperTable(p, res.Run.Scale, d)
		fitPaper(t, d)
		d.Heading(2, paperTitle(p))
		if len(t.Rows) > 0 {
			d.Add(t)
		}
		d.Legend(notes...)
		addPaperRatios(d, p)
		if last := i+1 == len(res.Papers); d.Medium == document.Text && (last || res.Papers[i+1].Source != p.Source) {
			d.Legend(paperLegend(p.Source))
		} else if last {
			d.Legend(strings.Replace(paperLegend(res.Papers[0].Source), "in parentheses", "that are slanted", 1))
		}
	}
}

// paperTitle names the table and the paper.
func paperTitle(t *analyze.PaperTable) string {
	s := "Compared with " + shortCitation(t.Source) + ", " + words.Clean(t.Table)
	if t.Title != "" {
		s += ": " + words.Clean(t.Title)
	}
	return s
}

// paperTable has a line for each published value, under a line for each row of
// the paper. Rows beside which nothing could stand are left to the notes.
func paperTable(t *analyze.PaperTable, scale string, d *document.Document) (out *document.Table, notes []string) {
	same := t.Statistic != "" && slices.ContainsFunc(t.Cells, func(c analyze.PaperCell) bool { return c.Same != nil })
	out = &document.Table{Columns: paperColumns(t, same)}
	letters := &footnotes{scale: scale}
	var rows analyze.Grouped[string, *analyze.PaperCell]
	for i := range t.Cells {
		rows.Add(t.Cells[i].Row, &t.Cells[i])
	}
	var folded analyze.Grouped[string, string] // rows by the reason
	for row, cells := range rows.All() {
		if why := sameReason(cells); why != "" {
			folded.Add(why, row)
			continue
		}
		if len(cells) > mostPaperLines && !slices.ContainsFunc(cells, func(c *analyze.PaperCell) bool { return c.Here != nil }) {
			folded.Add(noneOfMany, row)
			continue
		}
		head, own := words.Clean(row), !sameUnit(cells)
		if !own {
			head += ", " + words.Clean(cells[0].Unit)
		}
		// A note is the row's, and stands at those that have something beside them.
		if i := slices.IndexFunc(cells, func(c *analyze.PaperCell) bool { return c.Note != "" }); i >= 0 {
			head += " (" + letters.of(cells[i].Note) + ")"
		}
		out.Rows = append(out.Rows, document.Row{Cells: []document.Cell{{Text: head, Rest: true}}, Tone: document.Head})
		if len(cells) > mostPaperLines {
			out.Rows = append(out.Rows, manyPaperCells(cells, own, same, d, letters)...)
			continue
		}
		for _, c := range cells {
			out.Rows = append(out.Rows, document.Row{Cells: paperCells(c, own, same, d, letters)})
		}
	}
	notes = letters.list()
	if slices.ContainsFunc(t.Cells, func(c analyze.PaperCell) bool { return c.PublishedMedian != nil }) {
		out.Columns[2].Title = strings.Replace(out.Columns[2].Title, "\nmean", "\nmean; median", 1)
		notes = append(notes, medianNote)
	}
	for why, left := range folded.All() {
		notes = append(notes, fmt.Sprintf("Nothing to compare with %s: %s", words.FirstFew(left), letters.sentence(why)))
	}
	return out, append(notes, statisticNotes(t, same)...)
}

// paperColumns are the columns of a table; same says that there is one for the
// paper's estimator of our values.
func paperColumns(t *analyze.PaperTable, same bool) []document.Column {
	titles := []string{"", "image", strings.Replace(shortCitation(t.Source), " ", "\n", 1) + "\n" + cmp.Or(t.Statistic.Title(), "mean")}
	if same {
		titles = append(titles, "here\n"+t.Statistic.Title())
	}
	out := document.Columns(append(titles, "here\nmedian", "\n95 %", "n", "in")...)
	out[2].Right, out[len(out)-2].Right = true, true
	if same {
		out[3].Right = true
	}
	return out
}

// statisticNotes say what the estimator is, and which engines differ by it.
func statisticNotes(t *analyze.PaperTable, same bool) []string {
	if !same {
		return nil
	}
	var out []string
	if what := t.Statistic.What(); what != "" {
		out = append(out, "By the paper's estimator: "+what+". Verdicts here use medians.")
	}
	for _, a := range t.Apart {
		s := words.Clean(strings.Join(slices.DeleteFunc([]string{a.Row, a.Image}, func(s string) bool { return s == "" }), ", "))
		s += fmt.Sprintf(": by disjoint intervals %d of %s of engines differ there and %d here", a.Theirs, words.Plural(a.Pairs, "pair"), a.Ours)
		if len(a.Otherwise) > 0 {
			s += "; not alike: " + words.Clean(words.FirstFew(a.Otherwise))
		}
		out = append(out, s+".")
	}
	return out
}

// sameText is the paper's estimator of our values.
func sameText(c *analyze.PaperCell, unit string) string {
	if c.Same == nil {
		return "–"
	}
	s := short3(round(c.Same.Value))
	if c.Same.CI95 != nil {
		s += " ± " + short3(round(*c.Same.CI95))
	}
	return s + unit
}

// round leaves three significant digits, or what stands before the point.
func round(v float64) float64 {
	if math.Abs(v) >= 100 {
		return math.Round(v)
	}
	out, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64) // it was a number
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

// roomForNames is from which width on a page has room for the names of our
// environments beside the paper's estimator; below it they are in the notes.
const roomForNames = 120

// paperCells are one value's; own says that its unit stands beside it.
func paperCells(c *analyze.PaperCell, own, same bool, d *document.Document, letters *footnotes) []document.Cell {
	cited, unit := short3(c.Published), ""
	if c.CI95 != nil {
		cited += " ± " + short3(*c.CI95)
	}
	if c.PublishedMedian != nil {
		n := words.NumberOf(*c.PublishedMedian, 1, 3)
		cited = strings.TrimSpace(words.NumberOf(sample.Estimate{Value: c.Published}, 1, 3).Value + "; " + n.Value + " " + n.Interval)
	}
	if own {
		unit = " " + words.Clean(c.Unit)
		cited += unit
	}
	if d.Medium == document.Text {
		cited = "(" + cited + ")"
	}
	cells := document.Cells("  "+words.Clean(c.Engine), words.Clean(c.Image), cited)
	cells[2].Slanted = true
	if c.Here == nil {
		return append(cells, document.Cells("–", letters.of(c.Missing))...)
	}
	if same {
		cells = append(cells, document.Cells(sameText(c, unit))...)
	}
	n := words.NumberOf(*c.Here, 1, 4)
	in := words.Cut(words.Clean(c.Env), 40)
	if same && d.Medium == document.Text && d.Width < roomForNames {
		in = letters.of("here: " + words.Clean(c.Env))
	}
	return append(cells, document.Cells(n.Value+unit, n.Interval, strconv.Itoa(c.N), in)...)
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
	return words.Sentence(words.Clean(why))
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
	return lists.Map(f.texts, func(t string) string { return f.of(t) + " " + f.sentence(t) })
}

// paperLegend says whose numbers are whose.
func paperLegend(source string) string {
	return "Numbers in parentheses are published: " + citation(source) + ". They were measured on other machines; the medians next to them are this run's. Compare ratios and directions only."
}

// shortCitation names a study by its authors and year.
func shortCitation(key string) string {
	if s, ok := published.SourceOf(key); ok {
		return cite(s)
	}
	return words.Clean(key)
}

var errNoPapers = errors.New("this run's study has no published tables to compare with; the bundled studies named after papers do (plimsoll studies)")

// papersCSV has a row for each published value, in its own unit.
func papersCSV(res *analyze.Result, _ Options) [][]string {
	rows := [][]string{{"run", "source", "table", "row", "engine", "image", "unit", "better", "published", "published_ci95", "published_sd", "published_from",
		"here", "here_lo", "here_hi", "n", "blocks", "environment", "workload", "metric", "note", "missing", "statistic", "here_statistic", "here_ci95", "here_sd"}}
	for _, t := range res.Papers {
		for _, c := range t.Cells {
			r := []string{words.Clean(res.Run.ID), words.Clean(t.Source), words.Clean(t.Table), words.Clean(c.Row), words.Clean(c.Engine), words.Clean(c.Image), words.Clean(c.Unit), string(c.Better),
				plain(&c.Published), plain(c.CI95), plain(c.SD), words.Clean(c.From)}
			same := [3]string{}
			if c.Same != nil {
				same = [3]string{plain(&c.Same.Value), plain(c.Same.CI95), plain(c.Same.SD)}
			}
			r = append(r, three(c.Here)...)
			rows = append(rows, append(r, strconv.Itoa(c.N), strconv.Itoa(c.Blocks), words.Clean(c.Env), words.Clean(c.Workload), words.Clean(c.Metric), words.Clean(c.Note), words.Clean(c.Missing), string(t.Statistic), same[0], same[1], same[2]))
		}
	}
	return rows
}

type papersJSON struct {
	Schema int                  `json:"schema"`
	Run    string               `json:"run"`
	Papers []analyze.PaperTable `json:"papers"`
}
