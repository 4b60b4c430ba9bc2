package report

import "strings"

// grid is a table that knows nothing of what it shows.
type grid struct {
	cols []col
	rows []row
}

type col struct {
	title string // of one line or several
	right bool   // align to the right
	// style is that of a cell with this content, where its row has none of its
	// own; nil is none.
	style func(cell string) string
}

// row is a line of a grid. Where note is given it stands instead of the cells
// from column noteAt on, in as many lines as it takes.
type row struct {
	cells  []string
	note   string
	noteAt int
	style  string
}

// gap is between two columns.
const gap = 2

func (g *grid) widths() []int {
	w := make([]int, len(g.cols))
	for i, c := range g.cols {
		for _, l := range strings.Split(c.title, "\n") {
			w[i] = max(w[i], width(l))
		}
	}
	for _, r := range g.rows {
		for i, c := range r.cells {
			if r.note == "" || i < r.noteAt {
				w[i] = max(w[i], width(c))
			}
		}
	}
	return w
}

// width is that of the whole grid.
func (g *grid) width() int {
	sum := -gap
	for _, w := range g.widths() {
		sum += w + gap
	}
	return sum
}

// lines renders the grid; styled wraps a line in a style.
func (g *grid) lines(limit int, styled func(style, s string) string) []string {
	w := g.widths()
	sep := strings.Repeat(" ", gap)
	high := 1
	for _, c := range g.cols {
		high = max(high, 1+strings.Count(c.title, "\n"))
	}
	var out []string
	for h := range high {
		var head []string
		for i, c := range g.cols {
			// The last lines stand in one line.
			t := strings.Split(c.title, "\n")
			k, text := h-(high-len(t)), ""
			if k >= 0 {
				text = t[k]
			}
			head = append(head, pad(text, w[i], c.right))
		}
		out = append(out, styled("head", cut(strings.TrimRight(strings.Join(head, sep), " "), limit)))
	}
	for _, r := range g.rows {
		out = append(out, g.line(r, w, limit, styled)...)
	}
	return out
}

// minNote is the fewest characters in which a note is written beside its row.
const minNote = 16

// line renders a row.
func (g *grid) line(r row, w []int, limit int, styled func(style, s string) string) []string {
	sep := strings.Repeat(" ", gap)
	var parts []string
	for i := range g.cols {
		if r.note != "" && i == r.noteAt {
			break
		}
		cell := ""
		if i < len(r.cells) {
			cell = r.cells[i]
		}
		parts = append(parts, pad(cell, w[i], g.cols[i].right))
	}
	line := strings.Join(parts, sep)
	if r.note == "" {
		return []string{g.paint(r, w, cut(strings.TrimRight(line, " "), limit), styled)}
	}
	var out []string
	lead := line
	if r.noteAt > 0 {
		lead += sep
	}
	if limit-width(lead) < minNote { // below the row
		out = append(out, styled(r.style, cut(strings.TrimRight(line, " "), limit)))
		lead = strings.Repeat(" ", 2*gap)
	}
	for _, l := range wrap(r.note, limit-width(lead), "") {
		out = append(out, styled(r.style, lead+l))
		lead = strings.Repeat(" ", width(lead))
	}
	return out
}

// paint styles a line, and its cells where the row has no style.
func (g *grid) paint(r row, w []int, line string, styled func(style, s string) string) string {
	if r.style != "" {
		return styled(r.style, line)
	}
	var b strings.Builder
	rest, at := []rune(line), 0
	put := func(style string, n int) {
		n = min(n, len(rest))
		b.WriteString(styled(style, string(rest[:n])))
		rest, at = rest[n:], at+n
	}
	begin := 0
	for i, c := range g.cols {
		if c.style != nil && begin < at+len(rest) {
			put("", begin-at)
			cell := string(rest[:min(w[i], len(rest))])
			put("", width(cell)-width(strings.TrimLeft(cell, " ")))
			// Dots lead the eye to a picture.
			put("dim", width(cell)-width(strings.TrimLeft(cell, " ·"))+begin-at)
			put(c.style(strings.TrimSpace(cell)), begin+w[i]-at)
		}
		begin += w[i] + gap
	}
	put("", len(rest))
	return b.String()
}

// wrap breaks text into lines of at most limit characters; all but the first
// begin with indent.
func wrap(text string, limit int, indent string) []string {
	var out []string
	line := ""
	for _, word := range strings.Fields(text) {
		for {
			lead := ""
			if len(out) > 0 {
				lead = indent
			}
			if line == "" {
				line = lead
			}
			blank := strings.TrimSpace(line) == ""
			need := width(line) + width(word)
			if !blank {
				need++
			}
			if need <= limit {
				if !blank {
					line += " "
				}
				line += word
				break
			}
			if blank { // a word longer than the line
				r := []rune(word)
				n := max(1, limit-width(line))
				out = append(out, line+string(r[:n]))
				line, word = "", string(r[n:])
				if word == "" {
					break
				}
				continue
			}
			out = append(out, line)
			line = ""
		}
	}
	if strings.TrimSpace(line) != "" {
		out = append(out, line)
	}
	return out
}
