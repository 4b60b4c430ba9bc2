package report

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"plimsoll/internal/understand/analyze"
)

// writeLaTeX writes each ranking as a table for a paper, with the rules of the
// package booktabs. Legends become the caption, so that no number stands
// without what it means.
func writeLaTeX(w io.Writer, res *analyze.Result, opts Options) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%% %s; run %s\n", texComment(headline(res)), texComment(res.Run.ID))
	fmt.Fprintf(out, "%% needs \\usepackage{booktabs} and an engine that reads UTF-8\n")
	for i, r := range rankingsOf(res, opts) {
		m := r.table.Metric
		l := fullLayout
		l.notes, l.whole = false, true // the remarks are not in the table
		caption := clean(firstOf(r.work.Title, r.work.ID)) + ": " + clean(firstOf(m.What, m.Title)) + "; " + better(m) + "."
		for _, s := range r.legend(res.Run.Delta) {
			caption += " " + sentence(clean(s))
		}
		fmt.Fprintf(out, "\n\\begin{table}\n\\centering\n\\caption{%s}\n\\label{tab:plimsoll-%d}\n", texEscape(caption), i+1)
		texGrid(out, r.grid(l))
		fmt.Fprintf(out, "\\end{table}\n")
	}
	if f := res.Features; f != nil && f.Tried() && opts.Metric == "" {
		// The groups are lines of the table: what a reader of it needs is there.
		caption := sentence(featuresHead(f)) + " " + featuresLegend
		fmt.Fprintf(out, "\n\\begin{table}\n\\centering\n\\caption{%s}\n\\label{tab:plimsoll-features}\n", texEscape(caption))
		texGrid(out, featuresGrid(f, 0))
		fmt.Fprintf(out, "\\end{table}\n")
	}
	return out.Flush()
}

func auditLaTeX(io.Writer, *analyze.Result, Options) error {
	return errors.New("the equivalence audit has no LaTeX form: choose text, markdown, csv or json")
}

func overheadLaTeX(io.Writer, *analyze.Result, Options) error {
	return errors.New("the overhead has no LaTeX form: choose text, markdown, csv or json")
}

// texGrid writes a grid. A note spans the columns that it stands instead of.
func texGrid(out *bufio.Writer, g *grid) {
	spec, head := "", make([]string, len(g.cols))
	for i, c := range g.cols {
		align := "l"
		if c.right {
			align = "r"
		}
		spec += align
		head[i] = texEscape(strings.ReplaceAll(c.title, "\n", " "))
	}
	fmt.Fprintf(out, "\\begin{tabular}{@{}%s@{}}\n\\toprule\n%s \\\\\n\\midrule\n", spec, strings.Join(head, " & "))
	for _, r := range g.rows {
		var cells []string
		for i := range g.cols {
			if r.note != "" && i == r.noteAt {
				cells = append(cells, fmt.Sprintf("\\multicolumn{%d}{@{}l@{}}{%s}", len(g.cols)-i, texEscape(clean(r.note))))
				break
			}
			cell := ""
			if i < len(r.cells) {
				cell = texEscape(strings.Join(strings.Fields(r.cells[i]), " "))
			}
			// An optional argument of the \\ before must not begin here.
			if i == 0 && strings.HasPrefix(cell, "[") {
				cell = "{}" + cell
			}
			cells = append(cells, cell)
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

// texComment is text behind a %: it must only stay on its line.
func texComment(s string) string { return clean(s) }
