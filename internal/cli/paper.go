package cli

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// paper is standard output as wide as its terminal: what is longer than a line goes
// on below it, further in. Where there is no terminal a line stays one.
type paper struct {
	out   io.Writer
	width int
	rest  []byte // of a line that has not ended
}

// paper is where a command prints text that is to fit the terminal.
func (w World) paper() io.Writer {
	if w.Width == nil || w.Width() < narrowest {
		return w.Stdout
	}
	return &paper{out: w.Stdout, width: w.Width()}
}

// narrowest is the width from which on wrapping helps more than it hurts.
const narrowest = 30

// widthOf is the width of what is written to; 0 is no terminal.
func widthOf(out io.Writer) int {
	if p, ok := out.(*paper); ok {
		return p.width
	}
	return 0
}

func (p *paper) Write(b []byte) (int, error) {
	p.rest = append(p.rest, b...)
	for {
		line, rest, ended := bytes.Cut(p.rest, []byte("\n"))
		if !ended {
			return len(b), nil
		}
		for _, l := range hanging(string(line), p.width) {
			if _, err := fmt.Fprintln(p.out, l); err != nil {
				return 0, err
			}
		}
		p.rest = rest
	}
}

// hanging breaks a line between words. What follows stands below the line's last
// column, where that begins in the line's first half, else two further in. A word is
// never broken: a terminal breaks it so that it is copied in one piece.
func hanging(line string, width int) []string {
	if words.Width(line) <= width {
		return []string{line}
	}
	text := strings.TrimLeft(line, " ")
	lead := len(line) - len(text)
	head, indent := line[:lead], lead+2
	if gap := strings.LastIndex(text, "  "); gap > 0 && lead+words.Width(text[:gap])+2 <= width/2 {
		head, text = line[:lead]+text[:gap+2], text[gap+2:]
		indent = words.Width(head)
	}
	lines, now := []string(nil), head
	for i, word := range strings.Fields(text) {
		if i > 0 && words.Width(now)+1+words.Width(word) > width {
			lines, now = append(lines, now), strings.Repeat(" ", min(indent, width/2))
		} else if i > 0 {
			now += " "
		}
		now += word
	}
	return append(lines, now)
}

// table is what a command prints cells to that tabs part.
type table interface {
	io.Writer
	Flush() error
}

// columnsOn lays cells out in columns, which fit the terminal where there is one.
func columnsOn(out io.Writer) table {
	if width := widthOf(out); width > 0 {
		return &fitted{paper: out.(*paper)}
	}
	return tabwriter.NewWriter(out, 0, 4, between, ' ', 0)
}

// between are the blanks between columns.
const between = 2

// fitted is a table that takes the room that there is: a column's cells go on in
// further lines where they have too little of it.
type fitted struct {
	*paper
	text bytes.Buffer
}

func (f *fitted) Write(b []byte) (int, error) { return f.text.Write(b) }

func (f *fitted) Flush() error {
	var rows [][]string
	end := func() error {
		err := f.block(rows)
		rows = nil
		return err
	}
	for line := range strings.Lines(f.text.String()) {
		line = strings.TrimSuffix(line, "\n")
		if strings.Contains(line, "\t") {
			rows = append(rows, strings.Split(line, "\t"))
			continue
		}
		if err := end(); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(f.paper, line); err != nil {
			return err
		}
	}
	f.text.Reset()
	return end()
}

// block prints rows that stand below each other.
func (f *fitted) block(rows [][]string) error {
	widths, enough := shareOut(rows, f.width)
	for _, row := range rows {
		if !enough {
			for _, l := range stacked(row, f.width) {
				if _, err := fmt.Fprintln(f.out, l); err != nil {
					return err
				}
			}
			continue
		}
		cells, high := make([][]string, len(row)), 1
		for i, c := range row {
			if cells[i] = []string{c}; words.Width(c) > widths[i] {
				cells[i] = document.Wrap(c, widths[i], "")
			}
			high = max(high, len(cells[i]))
		}
		for h := range high {
			line := ""
			for i := range row {
				part := ""
				if h < len(cells[i]) {
					part = cells[i][h]
				}
				line += part + strings.Repeat(" ", max(0, widths[i]-words.Width(part))+between)
			}
			if _, err := fmt.Fprintln(f.out, strings.TrimRight(line, " ")); err != nil {
				return err
			}
		}
	}
	return nil
}

// stacked is a row where columns have too little room: its cells follow each other, as
// far apart as columns are, and what a line has no room for goes on further in.
func stacked(row []string, width int) (lines []string) {
	line := ""
	for i, c := range row {
		switch {
		case c == "" && i == 0: // as the row before it
			line = "  "
		case c == "":
		case strings.TrimSpace(line) == "":
			line += c
		case words.Width(line)+between+words.Width(c) <= width:
			line += strings.Repeat(" ", between) + c
		default:
			lines, line = append(lines, line), "    "+c
		}
		parts := hanging(line, width)
		lines, line = append(lines, parts[:len(parts)-1]...), parts[len(parts)-1]
	}
	return append(lines, strings.TrimRight(line, " "))
}

// shareOut gives each column its widest cell where there is room for all, else what
// its words need at least, and the rest, one character after the other, to the column
// that it saves most lines. On a narrow terminal it is not enough where words would be
// broken, or prose be a pile of single words.
func shareOut(rows [][]string, width int) (widths []int, enough bool) {
	var most, text []int
	for _, row := range rows {
		for i, c := range row {
			if i == len(most) {
				widths, most, text = append(widths, 1), append(most, 1), append(text, 0)
			}
			most[i] = max(most[i], words.Width(c))
			text[i] += words.Width(c)
			if n := words.Width(c); n <= short {
				widths[i] = max(widths[i], n)
			}
			for w := range strings.FieldsSeq(c) {
				widths[i] = max(widths[i], words.Width(w))
			}
		}
	}
	room := width - between*(len(most)-1)
	for _, w := range widths {
		room -= w
	}
	if room < 0 && width < roomy {
		return widths, false
	}
	for ; room < 0; room++ { // words that are too long are broken
		i := slices.Index(widths, slices.Max(widths))
		widths[i] = max(widths[i]-1, 1)
	}
	for ; room > 0; room-- {
		best, saves := -1, 0.0
		for i := range most {
			if s := float64(text[i]) / float64(widths[i]*widths[i]); widths[i] < most[i] && s > saves {
				best, saves = i, s
			}
		}
		if best < 0 {
			break
		}
		widths[best]++
	}
	for i, n := range most {
		if width < roomy && n > 2*leastProse && widths[i] < leastProse {
			return widths, false
		}
	}
	return widths, true
}

const (
	// leastProse is how many characters a column of sentences needs at least to be read.
	leastProse = 20
	// roomy is the width from which on even narrow columns are read better than none.
	roomy = 60
)

// short is up to how many characters a cell stays on one line, as a number with its
// unit.
const short = 12
