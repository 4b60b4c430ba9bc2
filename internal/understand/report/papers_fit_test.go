package report

import (
	"strings"
	"testing"

	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// TestPapersFit: however narrow the page is, a paper's table loses no number.
func TestPapersFit(t *testing.T) {
	for _, width := range []int{60, 80, 90, 140} {
		x := &document.Table{Columns: document.Columns("", "image", "Somebody\net al. 2020\nmean; median", "here\nmean", "here\nmedian", "\n95 %", "n", "in")}
		x.Rows = append(x.Rows,
			document.Row{Cells: []document.Cell{{Text: "hello-world/create, ms", Rest: true}}},
			document.Row{Cells: document.Cells("  podman/crun/overlay/rootless", "alpine", "(194; 197 [192, 201])", "51.1", "53", "[49, 54]", "17", "z")},
			document.Row{Cells: document.Cells("  podman/crun/overlay/rootful", "alpine", "(111; 111 [110, 115])", "36.8", "37.3", "[36.3, 39.4]", "16", "ab")},
			document.Row{Cells: document.Cells("  4 more", "", "", "–", "ac")})
		d := &document.Document{Medium: document.Text, Width: width}
		fitPaper(x, d)
		d.Add(x)
		var b strings.Builder
		if err := d.Write(&b); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		for _, want := range []string{"(194; 197 [192, 201])", "(111; 111 [110, 115])", "51.1", "53", "[49, 54]", "17", "z", "36.8", "37.3", "[36.3, 39.4]", "16", "ab", "4 more", "–", "ac", "hello-world/create, ms"} {
			if !strings.Contains(text, want) {
				t.Errorf("%d columns: %s is lost in\n%s", width, want, text)
			}
		}
		for l := range strings.SplitSeq(text, "\n") {
			if words.Width(l) > width {
				t.Errorf("%d columns: %d in %q", width, words.Width(l), l)
			}
		}
	}
}
