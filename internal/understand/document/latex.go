package document

import (
	"bufio"
	"fmt"
	"strings"

	"plimsoll/internal/understand/words"
)

// writeLaTeX writes the tables that have a caption, for a paper, with the rules
// of the package booktabs.
func writeLaTeX(out *bufio.Writer, d *Document) {
	for _, b := range d.Blocks {
		switch b := b.(type) {
		case Comment: // it must only stay on its line
			fmt.Fprintf(out, "%% %s\n", words.Prose(b.Text))
		case *Table:
			if b.Caption == "" {
				continue
			}
			fmt.Fprintf(out, "\n\\begin{table}\n\\centering\n\\caption{%s}\n\\label{tab:plimsoll-%s}\n", texEscape(b.Caption), b.Label)
			texTable(out, b)
			fmt.Fprintf(out, "\\end{table}\n")
		}
	}
}

// texTable writes a table. A Rest spans the columns that it stands instead of.
func texTable(out *bufio.Writer, t *Table) {
	spec, head := "", make([]string, len(t.Columns))
	for i, c := range t.Columns {
		align := "l"
		if c.Right {
			align = "r"
		}
		spec += align
		head[i] = texEscape(strings.ReplaceAll(c.Title, "\n", " "))
	}
	fmt.Fprintf(out, "\\begin{tabular}{@{}%s@{}}\n\\toprule\n%s \\\\\n\\midrule\n", spec, strings.Join(head, " & "))
	for _, r := range t.Rows {
		var cells []string
		for i := range t.Columns {
			text := ""
			if i < len(r.Cells) {
				text = texEscape(strings.Join(strings.Fields(r.Cells[i].String()), " "))
			}
			if i < len(r.Cells) && r.Cells[i].Rest {
				cells = append(cells, fmt.Sprintf("\\multicolumn{%d}{@{}l@{}}{%s}", len(t.Columns)-i, text))
				break
			}
			// An optional argument of the \\ before must not begin here.
			if i == 0 && strings.HasPrefix(text, "[") {
				text = "{}" + text
			}
			cells = append(cells, text)
		}
		fmt.Fprintf(out, "%s \\\\\n", strings.Join(cells, " & "))
	}
	fmt.Fprintf(out, "\\bottomrule\n\\end{tabular}\n")
}

var texReplacer = strings.NewReplacer(
	`\`, `\textbackslash{}`, `{`, `\{`, `}`, `\}`, `$`, `\$`, `&`, `\&`, `#`, `\#`, `%`, `\%`, `_`, `\_`,
	`~`, `\textasciitilde{}`, `^`, `\textasciicircum{}`, `<`, `\textless{}`, `>`, `\textgreater{}`, `|`, `\textbar{}`,
	`"`, `\char34{}`, "×", `$\times$`, "µ", `$\mu$`, "±", `$\pm$`, "−", `$-$`, "≥", `$\geq$`, "≈", `$\approx$`,
	"…", `\dots{}`, "–", `--`, "—", `---`, "→", `$\rightarrow$`, "δ", `$\delta$`, "τ", `$\tau$`,
)

// texEscape makes text stand for itself: no command, no group, no comment.
func texEscape(s string) string { return texReplacer.Replace(s) }
