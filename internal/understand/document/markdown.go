package document

import (
	"bufio"
	"fmt"
	"strings"

	"plimsoll/internal/common/lists"
)

// writeMarkdown sets one blank line between two blocks.
func writeMarkdown(out *bufio.Writer, d *Document) {
	for i, b := range d.Blocks {
		_, gap := b.(Gap)
		if p, _ := b.(Para); i > 0 && !gap && !p.Tight {
			fmt.Fprintln(out)
		}
		switch b := b.(type) {
		case Heading:
			if b.Level == 0 {
				fmt.Fprintln(out, mdLine(Line{{b.Text, Strong}}))
				continue
			}
			fmt.Fprintf(out, "%s %s\n", strings.Repeat("#", b.Level), mdEscape(b.Text))
		case Para:
			fmt.Fprintln(out, mdLine(b.Text))
		case *Table:
			mdTable(out, b)
		case List:
			mdList(out, b)
		case Gap:
			fmt.Fprintln(out)
		}
	}
}

func mdList(out *bufio.Writer, l List) {
	for i, m := range l.Items {
		lead := "- "
		if l.Numbered {
			lead = fmt.Sprintf("%d. ", i+1)
		}
		switch m.Mark {
		case "":
		case Do:
			lead += Do + " "
		default:
			lead += mdLine(Line{{m.Mark, Strong}}) + " "
		}
		fmt.Fprintln(out, lead+mdLine(m.Text)+mdAdvice(m.Advice))
		for _, s := range m.Below {
			fmt.Fprintf(out, "  - %s\n", mdEscape(s))
		}
	}
}

func mdAdvice(a Advice) string {
	switch {
	case a.Text == "":
		return ""
	case a.Fix:
		return " Fix: " + mdCode(a.Text)
	case a.Command:
		return " " + Do + " " + mdCode(a.Text)
	}
	return " *" + mdEscape(a.Text) + ".*"
}

// mdTable writes a table. A Rest takes the first of its places.
func mdTable(out *bufio.Writer, t *Table) {
	var head, rule []string
	for _, c := range t.Columns {
		title := mdEscape(strings.ReplaceAll(c.Title, "\n", " "))
		if c.Slanted {
			title = "*" + title + "*"
		}
		mark := "---"
		if c.Right {
			mark = "---:"
		}
		head, rule = append(head, title), append(rule, mark)
	}
	if t.Below != "" {
		head, rule = append(head, mdEscape(t.Below)), append(rule, "---")
	}
	line := func(cells []string) { fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | ")) }
	line(head)
	line(rule)
	for _, r := range t.Rows {
		cells := make([]string, len(t.Columns))
		for i, c := range r.Cells {
			text := c.String()
			cells[i] = mdEscape(strings.Join(strings.Fields(text), " "))
			if c.Slanted && cells[i] != "" {
				cells[i] = "*" + cells[i] + "*"
			}
			if c.Rest && cells[i] != "" { // Markdown drops blanks, and a tree's say what is below what
				cells[i] = strings.Repeat("&nbsp;", len(text)-len(strings.TrimLeft(text, " "))) + cells[i]
			}
		}
		if t.Below != "" {
			cells = append(cells, strings.Join(lists.Map(r.Below, mdLine), " "))
		}
		line(cells)
	}
}

func mdLine(l Line) string {
	var b strings.Builder
	for _, s := range l {
		switch s.Style {
		case Strong:
			b.WriteString("**" + mdEscape(s.Text) + "**")
		case Slanted:
			b.WriteString("*" + mdEscape(s.Text) + "*")
		case Code:
			b.WriteString(mdCode(s.Text))
		default:
			b.WriteString(mdEscape(s.Text))
		}
	}
	return b.String()
}

var mdReplacer = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;",
	"[", `\[`, "]", `\]`, "#", `\#`, "~", `\~`)

// mdEscape makes text stand for itself: no markup, no HTML, no table border.
func mdEscape(s string) string { return mdReplacer.Replace(s) }

// mdCode puts text into a code span, whose fence is longer than any inside.
func mdCode(s string) string {
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}
