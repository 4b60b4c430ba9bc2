package document

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"plimsoll/internal/common/golden"
	"plimsoll/internal/understand/words"
)

// table shows each kind of cell, and text that is markup somewhere.
func table() *Table {
	t := &Table{Caption: "All of 100 %", Label: "all", Below: "said"}
	t.Columns = []Column{{Title: "name", Names: true}, {Title: "median,\nms", Points: true}, {Title: "n", Right: true}, {Title: "cited", Slanted: true}}
	row := func(tone Tone, below string, cells ...Cell) {
		r := Row{Cells: cells, Tone: tone}
		if below != "" {
			r.Below = []Line{Say(below)}
		}
		t.Rows = append(t.Rows, r)
	}
	row(Plain, "", Cell{Text: "docker"}, Cell{Text: "205", Tail: "[201, 209]"}, Cell{Text: "12"}, Cell{Text: "871 ± 4", Slanted: true})
	row(Warn, "below the row", Cell{Text: "a_b*c|<i>"}, Cell{Text: "60.25", Tail: "="}, Cell{Text: "3", Tone: Warn}, Cell{})
	row(Plain, "", Cell{Text: "[x]"}, Cell{}, Cell{Text: "0", Tone: Mark}, Cell{Text: "1"})
	row(Dim, "", Cell{Text: "sarus"}, Cell{Text: "n/a: it is not installed, and nobody knows where it could be found", Rest: true})
	return t
}

// all is a document with every block.
func all(m Medium, width int) *Document {
	d := &Document{Medium: m, Width: width}
	d.Comment("for the source")
	d.Heading(1, "A report of #1")
	d.Para("It begins with a sentence that is longer than a narrow page.")
	d.Heading(2, "Numbers")
	d.Add(table())
	d.Legend("n: how many.")
	d.Gap(m)
	d.Heading(0, "No part of the outline")
	d.Add(List{Lead: " - ", Items: []Item{{Text: Of(Strong, "docker", ": it *ran*"), Below: []string{"and ended"}}, {Text: Say("it failed"), Tone: Warn, Advice: Advice{Text: "run `it` again", Command: true}}}})
	d.Add(List{Numbered: true, Items: []Item{{Text: Of(Strong, "drift.", " It drifts."), Advice: Advice{Text: "Wait"}}, {Text: Say("more"), Advice: Advice{Text: "make lab", Fix: true}}}})
	d.Add(Heading{Level: 3, Text: "crane", Inner: true}, List{Lead: " ", Marked: true, Items: []Item{{Mark: "+", Text: Say("fast")}, {Text: Say("neither")}, {Mark: Do, Text: Line{{"plimsoll run", Code}}}}})
	d.Led("run      ", "0a1b of a study with a long name that needs a second line", Plain)
	d.Add(Para{Text: Line{{"Published: ", Normal}, {"871 s", Slanted}}, Tight: true})
	return d
}

func written(t *testing.T, d *Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := d.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Every block in every format, as a person reads it.
func TestGolden(t *testing.T) {
	color := all(Text, 60)
	color.Color = true
	for name, d := range map[string]*Document{"text": all(Text, 60), "color.text": color, "md": all(Markdown, 0), "tex": all(LaTeX, 0)} {
		golden.Check(t, filepath.Join("testdata", "all."+name), written(t, d))
	}
}

// A page's cells are those of the table; a reason spans the rest of its row, and what
// stands below a row is one of its own.
func TestPageCells(t *testing.T) {
	x := table()
	if head := fmt.Sprint(x.PageHead()); head != "[{name false false 0} {median,\nms false false 0} {n true false 0} {cited false false 0}]" {
		t.Error(head)
	}
	rows := x.PageRows()
	if got := fmt.Sprint(rows[0]); got != "[{docker false true 0} {205 [201, 209] false false 0} {12 true false 0} {871 ± 4 false false 0}]" {
		t.Error(got)
	}
	spans := map[int]string{} // where a cell takes several columns
	for i, r := range rows {
		if last := r[len(r)-1]; last.Span > 1 {
			spans[i] = fmt.Sprint(len(r), last.Span, last.Text)
		}
	}
	if got := fmt.Sprint(spans); got != "map[2:1 4below the row 4:2 3n/a: it is not installed, and nobody knows where it could be found]" {
		t.Error(got)
	}
}

// No line is wider than the page, colours change no text, and ASCII is ASCII.
func TestTextFits(t *testing.T) {
	for width := 20; width < 120; width++ {
		for _, parts := range []bool{false, true} {
			d := all(Text, width)
			d.Blocks[3].(*Table).Parts = parts
			plain := written(t, d)
			for l := range strings.Lines(plain) {
				if words.Width(strings.TrimSuffix(l, "\n")) > width {
					t.Fatalf("%d columns: %q", width, l)
				}
			}
			d.Color = true
			color := written(t, d)
			for _, code := range sequences {
				color = strings.ReplaceAll(color, code, "")
			}
			if color = strings.ReplaceAll(color, "\x1b[0m", ""); color != plain {
				t.Fatalf("%d columns: colours change the text: %s", width, golden.Difference(color, plain))
			}
			d.Color, d.ASCII = false, true
			if i := strings.IndexFunc(written(t, d), func(r rune) bool { return r >= utf8.RuneSelf }); i >= 0 {
				t.Fatalf("%d columns: not ASCII", width)
			}
		}
	}
}

// A table that is cut into parts loses no cell, and each part has the names.
func TestParts(t *testing.T) {
	x := &Table{Columns: Columns("name"), Parts: true}
	for i := range 5 {
		x.Row(fmt.Sprintf("row %d", i))
	}
	for k := range 12 {
		var cells []string
		for i := range 5 {
			cells = append(cells, fmt.Sprintf("%d.%d", 100*k+i, k))
		}
		x.Column(Column{Title: fmt.Sprintf("c%d", k), Points: k%2 == 0, Right: k%3 == 0}, Cells(cells...))
	}
	for _, width := range []int{30, 47, 80, 200} {
		d := &Document{Width: width}
		d.Add(x)
		got := written(t, d)
		fields := strings.Fields(got)
		for _, r := range x.Rows {
			for _, c := range r.Cells[1:] {
				n := 0
				for _, f := range fields {
					if f == c.Text {
						n++
					}
				}
				if n != 1 {
					t.Fatalf("%d columns: %s stands %d times in\n%s", width, c.Text, n, got)
				}
			}
		}
		if parts := strings.Count(got, "name"); strings.Count(got, "row 3") != parts || parts > 1 != strings.Contains(got, "\n\n") {
			t.Errorf("%d columns:\n%s", width, got)
		}
	}
}

// TestTold: what a row says in words goes on below itself, as far in as it began, and is
// never cut; nothing said is a row too. Markdown keeps how far in it stands.
func TestTold(t *testing.T) {
	x := &Table{Columns: []Column{{Title: "ms", Right: true, Points: true}, {Title: "who"}}}
	x.Told("12.5", "a client that waits")
	x.Told("2.25", "    a daemon that waits for the disk (62 %)")
	x.Told("1", "")
	for width, want := range map[int]string{
		80: "   ms  who\n12.5   a client that waits\n 2.25      a daemon that waits for the disk (62 %)\n 1\n",
		30: "   ms  who\n12.5   a client that waits\n 2.25      a daemon that waits\n           for the disk (62 %)\n 1\n",
	} {
		d := &Document{Width: width}
		d.Add(x)
		if got := written(t, d); got != want {
			t.Errorf("%d columns: %q, not %q", width, got, want)
		}
	}
	d := &Document{Medium: Markdown}
	d.Add(x)
	if got := written(t, d); !strings.Contains(got, "| 12.5 | a client that waits |\n| 2.25 | &nbsp;&nbsp;&nbsp;&nbsp;a daemon that waits for the disk (62 %) |\n| 1 |  |\n") {
		t.Error(got)
	}
}

// TestPartsFirst: what stands over several columns is said in each part that has some of
// them, and once in each.
func TestPartsFirst(t *testing.T) {
	x := &Table{Columns: Columns("name"), Parts: true}
	x.Row("row")
	for k := range 12 {
		c := Column{Title: fmt.Sprintf("\nc%d", k), First: fmt.Sprintf("a second:\nc%d", k)}
		if k == 0 {
			c.Title = c.First
		}
		x.Column(c, Cells("123456"))
	}
	for _, width := range []int{15, 30, 47, 80, 200} {
		d := &Document{Width: width}
		d.Add(x)
		got := written(t, d)
		if parts := strings.Count(got, "row"); strings.Count(got, "a second:") != parts || strings.Contains(got, "…") {
			t.Errorf("%d columns:\n%s", width, got)
		}
		for _, line := range strings.Split(got, "\n") {
			if words.Width(line) > width {
				t.Errorf("%d columns: %q", width, line)
			}
		}
	}
}

// TestPartsNames: a name is whole where the table fits, and where it is cut it still
// differs from the others.
func TestPartsNames(t *testing.T) {
	x := &Table{Columns: Columns("workload", "made in"), Parts: true}
	var names []string
	for _, m := range []string{"mount-namespace", "id-mapped-mount"} {
		for _, n := range []string{"1", "16"} {
			names = append(names, "mechanisms/"+m+"/threads-"+n)
			x.Row(names[len(names)-1], "10.5 µs")
		}
	}
	whole := written(t, func() *Document { d := &Document{Width: 80}; d.Add(x); return d }())
	for _, n := range names {
		if !strings.Contains(whole, n+" ") {
			t.Errorf("%s is not whole in\n%s", n, whole)
		}
	}
	for _, width := range []int{40, 45} {
		d := &Document{Width: width}
		d.Add(x)
		seen := map[string]bool{}
		for _, line := range strings.Split(written(t, d), "\n") {
			if name, _, found := strings.Cut(line, " "); found && strings.Contains(line, "10.5") {
				seen[name] = true
			}
		}
		if len(seen) != len(names) {
			t.Errorf("%d columns: %d of %d names are told apart: %v", width, len(seen), len(names), seen)
		}
	}
}

func TestAlign(t *testing.T) {
	if got := strings.Join(Align([]string{"1.25", "", "12", "n/a", "0.5 +"}), "|"); got != "  1.25 ||"+" 12    |"+"n/a    |"+"  0.5 +" {
		t.Errorf("%q", got)
	}
}

// What gives way on a narrow page goes from head and rows alike.
func TestDrop(t *testing.T) {
	x := table()
	x.Rows = x.Rows[:3]
	x.DropTails(1)
	if x.Rows[0].Cells[1].String() != "205" {
		t.Errorf("%+v", x.Rows[0])
	}
	before := x.Width()
	x.Drop(1, 3)
	if len(x.Columns) != 2 || len(x.Rows[2].Cells) != 2 || x.Rows[0].Cells[1].Text != "871 ± 4" || x.Width() >= before {
		t.Errorf("%+v", x)
	}
}

// No text ends what it stands in.
func TestEscapes(t *testing.T) {
	const evil = "`a` ``b`` *c* _d_ |e| <f> &g [h](i) #j ~k {l} $m$ %n ^o \\p \"q\""
	for m, want := range map[Medium]string{
		Markdown: "\\`a\\` \\`\\`b\\`\\` \\*c\\* \\_d\\_ \\|e\\| &lt;f&gt; &amp;g \\[h\\](i) \\#j \\~k {l} $m$ %n ^o \\\\p \"q\"",
		LaTeX:    "`a` ``b`` *c* \\_d\\_ \\textbar{}e\\textbar{} \\textless{}f\\textgreater{} \\&g [h](i) \\#j \\textasciitilde{}k \\{l\\} \\$m\\$ \\%n \\textasciicircum{}o \\textbackslash{}p \\char34{}q\\char34{}",
	} {
		d := &Document{Medium: m}
		d.Add(&Table{Columns: Columns(evil), Rows: []Row{{Cells: Cells(evil)}}, Caption: evil, Label: "x"})
		if got := written(t, d); strings.Count(got, want) != map[Medium]int{Markdown: 2, LaTeX: 3}[m] {
			t.Errorf("%s", got)
		}
	}
	if got := mdCode("a `b` ``c``"); got != "``` a `b` ``c`` ```" {
		t.Error(got)
	}
}
