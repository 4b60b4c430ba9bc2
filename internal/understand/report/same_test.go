package report

import (
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"plimsoll/internal/common/golden"
	"plimsoll/internal/common/require"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/words"
)

var (
	fromMarkdown = strings.NewReplacer(`\\`, `\`, `\`, "", "&lt;", "<", "&gt;", ">", "&amp;", "&")
	fromLaTeX    = strings.NewReplacer(`$\times$`, "×", `$\mu$`, "µ", `$\approx$`, "≈", `$\delta$`, "δ", `\textasciitilde{}`, "~", `\&`, "&", `\%`, "%", `\_`, "_", `\#`, "#", "{}", "")
)

// rows are those of the tables in Markdown and in LaTeX, without the heads.
func rows(out string) [][]string {
	var all [][]string
	for l := range strings.Lines(out) {
		l = strings.TrimSuffix(l, "\n")
		if strings.HasPrefix(l, "| ---") || l == `\midrule` {
			all = all[:len(all)-1]
			continue
		}
		if cells, ok := strings.CutPrefix(l, "| "); ok {
			var row []string
			for c := range strings.SplitSeq(strings.TrimSuffix(cells, " |"), " | ") {
				if c = fromMarkdown.Replace(strings.TrimSpace(c)); !strings.HasPrefix(c, "**") {
					c = strings.Trim(c, "*")
				}
				row = append(row, c)
			}
			all = append(all, row)
			continue
		}
		if cells, ok := strings.CutSuffix(l, ` \\`); ok {
			var row []string
			for c := range strings.SplitSeq(cells, " & ") {
				if i := strings.Index(c, "{@{}l@{}}{"); i >= 0 {
					c = strings.TrimSuffix(c[i+len("{@{}l@{}}{"):], "}")
				}
				row = append(row, fromLaTeX.Replace(c))
			}
			all = append(all, row)
		}
	}
	return all
}

// inOrder says whether a line has all cells, one after the other.
func inOrder(line string, cells []string) bool {
	for _, c := range cells {
		i := strings.Index(line, c)
		if i < 0 {
			return false
		}
		line = line[i+len(c):]
	}
	return true
}

// Every row of a table in Markdown and in LaTeX stands in the text too, cell by
// cell: no format has a number that another has not.
func TestTablesSayTheSame(t *testing.T) {
	tried := map[string]int{}
	for _, k := range kinds(t) {
		var lines []string
		for l := range strings.Lines(k.text(t, "text", Options{Width: 2000, NoPlot: true})) {
			lines = append(lines, strings.Join(strings.Fields(l), " "))
		}
		for _, format := range []string{"markdown", "latex"} {
			if format == "latex" && !strings.HasPrefix(k.name, "result") {
				continue
			}
			for _, row := range rows(k.text(t, format, Options{})) {
				switch {
				case len(row) == 5 && strings.HasPrefix(row[4], "**"): // a claim's sentences stand below its row
					row = row[:4]
				case k.name == "audit" && len(row) == 3: // a property stands above its values
					row = row[1:]
				}
				tried[format]++
				if !slices.ContainsFunc(lines, func(l string) bool { return inOrder(l, row) }) {
					t.Errorf("%s: the %s has %q, and the text has no such line", k.name, format, row)
				}
			}
		}
	}
	if tried["markdown"] < 400 || tried["latex"] < 60 {
		t.Errorf("only %v rows were looked at", tried)
	}
}

// The numbers of the text are those of JSON, and CSV has them in full.
func TestNumbersAreTheResults(t *testing.T) {
	for _, s := range []opener{recordtest.Typical(), pull(), values(), recordtest.Suite()} {
		res := result(t, s)
		var back analyze.Result
		require.NoError(t, json.Unmarshal([]byte(render(t, "json", res, Options{})), &back))
		all, err := csv.NewReader(strings.NewReader(render(t, "csv", res, Options{}))).ReadAll()
		require.NoError(t, err)
		lines := strings.Split(render(t, "text", res, Options{Width: 400, NoPlot: true}), "\n")
		at := func(r []string, name string) string { return r[slices.Index(csvHead, name)] }
		cells := 0
		for _, w := range back.Workloads {
			for _, table := range w.Tables {
				r := newRanking(&w, &table, Options{})
				for _, c := range table.Cells {
					i := slices.IndexFunc(all, func(r []string) bool {
						return at(r, "workload") == w.ID && at(r, "environment") == c.Env && at(r, "metric") == table.Metric.ID
					})
					if i < 0 {
						t.Fatalf("the CSV has no row of %s, %s, %s", w.ID, c.Env, table.Metric.ID)
					}
					want := append(three(c.Median), append(three(c.P95), three(c.P99)...)...)
					got := append(append(slices.Clone(all[i][slices.Index(csvHead, "median"):][:3]), all[i][slices.Index(csvHead, "p95"):][:3]...), all[i][slices.Index(csvHead, "p99"):][:3]...)
					if !slices.Equal(got, want) || at(all[i], "missing") != c.Missing {
						t.Errorf("%s, %s, %s: the CSV has %q, the JSON %q", w.ID, c.Env, table.Metric.ID, got, want)
					}
					if c.Median == nil || !slices.Contains(w.Show, table.Metric.ID) {
						continue
					}
					cells++
					n := words.NumberOf(*c.Median, r.unit.By, words.Full)
					if !slices.ContainsFunc(lines, func(l string) bool {
						f := strings.Fields(l)
						return slices.Contains(f, words.Clean(c.Env)) && slices.Contains(f, n.Value) && strings.Contains(l, n.Interval)
					}) {
						t.Errorf("%s: no line with %s and %s %s", w.ID, c.Env, n.Value, n.Interval)
					}
				}
			}
		}
		if cells < 5 {
			t.Errorf("%s: only %d cells were looked at", res.Run.Study, cells)
		}
	}
}

// No line of anything is wider than the terminal, colours change no text, and
// ASCII is ASCII.
func TestAllKindsFit(t *testing.T) {
	for _, k := range kinds(t) {
		if k.text(t, "text", Options{Width: 7}) != k.text(t, "text", Options{Width: minWidth}) {
			t.Errorf("%s: a terminal of 7 columns is not taken for one of %d", k.name, minWidth)
		}
		for width := minWidth; width <= 160; width += 15 {
			plain := k.text(t, "text", Options{Width: width, Marks: true})
			for l := range strings.Lines(plain) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(l, "\n")); n > width {
					t.Errorf("%s, %d columns: %q has %d", k.name, width, l, n)
				}
			}
			if color := ansi.ReplaceAllString(k.text(t, "text", Options{Width: width, Marks: true, Color: true}), ""); color != plain {
				t.Errorf("%s, %d columns: colours change the text: %s", k.name, width, golden.Difference(color, plain))
			}
			text := k.text(t, "text", Options{Width: width, ASCII: true})
			if i := strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }); i >= 0 {
				t.Errorf("%s, %d columns: not ASCII at %q", k.name, width, text[max(0, i-20):i+3])
			}
		}
	}
}
