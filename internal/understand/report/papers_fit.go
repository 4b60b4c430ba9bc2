package report

import (
	"slices"
	"strings"

	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// theirColumns are the columns of a paper's table that are the paper's.
const theirColumns = 3

// fitPaper makes a text's table fit a page that is narrower, since a line that is cut
// loses a number: the engines' names give way first, and where that is not enough what
// was measured here stands below what was published.
func fitPaper(t *document.Table, d *document.Document) {
	if d.Medium != document.Text || t.Width() <= d.Width {
		return
	}
	var names []string
	for _, r := range t.Rows {
		names = append(names, strings.TrimSpace(r.Cells[0].String()))
	}
	if fitPaperNames(t, names, d.Width); t.Width() <= d.Width {
		return
	}
	titles := make([]string, len(t.Columns))
	for k, c := range t.Columns {
		titles[k] = strings.TrimPrefix(strings.TrimSpace(strings.ReplaceAll(c.Title, "\n", " ")), "here ")
	}
	for i := range t.Rows {
		if r := &t.Rows[i]; len(r.Cells) == len(t.Columns) {
			r.Below = append(r.Below, document.Say("here: "+hereWords(titles, r.Cells)))
			r.Cells = r.Cells[:theirColumns]
		}
	}
	// What is left beside are a dash and the letter that says why there is nothing.
	t.Columns = slices.Clone(t.Columns[:theirColumns+2])
	t.Columns[theirColumns].Title, t.Columns[theirColumns+1].Title = "here", ""
	fitPaperNames(t, names, d.Width)
}

// fitPaperNames shortens the names of engines by as much as the table is too wide.
func fitPaperNames(t *document.Table, names []string, width int) {
	const least = 16
	set := func(short []string) {
		for i, r := range t.Rows {
			if !r.Cells[0].Rest {
				r.Cells[0].Text = "  " + short[i]
			}
		}
	}
	set(names)
	if over := t.Width() - width; over > 0 {
		room := max(least, t.Widths()[0]-2-over)
		set(words.Apart(names, room, room))
	}
}

// hereWords are the cells of what was measured here, each by its column's title; the
// interval belongs to the number before it, and the name of ours needs no title.
func hereWords(titles []string, cells []document.Cell) string {
	var parts []string
	for k := theirColumns; k < len(cells); k++ {
		text := strings.TrimSpace(cells[k].String())
		switch {
		case text == "":
		case titles[k] == "95 %" && len(parts) > 0:
			parts[len(parts)-1] += " " + text
		case k == len(cells)-1:
			parts = append(parts, text)
		default:
			parts = append(parts, titles[k]+" "+text)
		}
	}
	return strings.Join(parts, "; ")
}
