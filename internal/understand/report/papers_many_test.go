package report

import (
	"fmt"
	"strings"
	"testing"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/document"
)

// Of a data set the values that have a counterpart are shown, the others are
// counted by their reasons: none is dropped.
func TestPaperTableOfManyValues(t *testing.T) {
	table := &analyze.PaperTable{Source: "everarts2020", Table: "Data set, Hello World"}
	for i := range 72 {
		c := analyze.PaperCell{Engine: fmt.Sprintf("docker/r%d", i), Image: "alpine", Row: "hello-world/start", Unit: "ms", Published: float64(500 + i), Missing: "no such driver here"}
		lo, hi := float64(480+i), float64(520+i)
		c.PublishedMedian = &sample.Estimate{Value: float64(510 + i), Lo: &lo, Hi: &hi}
		switch {
		case i < 3:
			c.Missing, c.Here = "", &sample.Estimate{Value: float64(100 + i)}
		case i < 10:
			c.Missing = "no such runtime here"
		}
		table.Cells = append(table.Cells, c)
	}
	for i := range 40 {
		table.Cells = append(table.Cells, analyze.PaperCell{Engine: fmt.Sprintf("docker/r%d", i), Row: "hello-world/exec", Unit: "ms", Missing: fmt.Sprintf("reason %d", i%2)})
	}
	out, notes := paperTable(table, "", &document.Document{Medium: document.Text, Width: 200})
	var lines []string
	for _, r := range out.Rows {
		line := ""
		for _, c := range r.Cells {
			line += c.Text + "|"
		}
		lines = append(lines, line)
	}
	text := strings.Join(lines, "\n")
	if len(lines) != 6 {
		t.Errorf("%d lines:\n%s", len(lines), text)
	}
	for _, want := range []string{"docker/r0|alpine|(500; 510 [480, 520])|100", "  7 more||", "  62 more||"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if len(notes) != 4 || notes[2] != medianNote || !strings.Contains(notes[3], "hello-world/exec") || !strings.Contains(strings.Join(notes, " "), "no such driver here") && !strings.Contains(strings.Join(notes, " "), "No such driver here") {
		t.Errorf("the reasons: %q", notes)
	}
}
