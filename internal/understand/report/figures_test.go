package report

import (
	"encoding/csv"
	"strings"
	"testing"

	"plimsoll/internal/common/published/figures"
	"plimsoll/internal/common/require"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/analyze/figure"
	"plimsoll/internal/understand/analyze/sample"
)

// Every format has each figure that can be drawn, theirs and ours, and says why
// the others can't be.
func TestFigures(t *testing.T) {
	list, err := figures.Of("baresi2024")
	require.NoError(t, err)
	list = append(list, figures.Figure{Source: "baresi2024", Name: "boxes", Shows: "nowhere", Title: "Boxes", Kind: figures.Boxes, Workload: "hello", Metric: "startup"},
		figures.Figure{Source: "baresi2024", Name: "lustre", Shows: "nowhere", Title: "Lustre", Kind: figures.None, Because: "there is no Lustre"})
	res, err := evaluate.Run(recordtest.Paper().Open(t), evaluate.Options{Values: true})
	require.NoError(t, err)
	all := figure.Of(res, list)
	write := func(format string, o Options) string {
		var b strings.Builder
		require.NoError(t, Figures(&b, format, res, all, o))
		return b.String()
	}
	text := write("text", Options{})
	for _, want := range []string{"Start-up of one container (Table 3), ms", "(871)", "○", "●", "▒", "mpi-latency: ", "lustre: ", "there is no Lustre", "memory-ramp: "} {
		if !strings.Contains(text, want) {
			t.Errorf("text lacks %q:\n%s", want, text)
		}
	}
	for _, line := range strings.Split(text, "\n") {
		if n := len([]rune(line)); n > defaultWidth {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if s := write("text", Options{ASCII: true}); strings.ContainsFunc(s, func(r rune) bool { return r > 126 }) || strings.Contains(s, "?") {
		t.Errorf("not ASCII, or a sign without one that looks like it:\n%s", s)
	}
	if s := write("markdown", Options{}); !strings.Contains(s, "| docker, ubuntu:18.04 | *(871)* |") {
		t.Errorf("markdown:\n%s", s)
	}
	rows, err := csv.NewReader(strings.NewReader(write("csv", Options{}))).ReadAll()
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, r := range rows[1:] {
		seen[r[1]] = true
	}
	if len(seen) != len(all) {
		t.Errorf("csv has %d figures, not %d", len(seen), len(all))
	}
	if s := write("json", Options{}); !strings.Contains(s, `"not-drawn"`) {
		t.Error("json lacks what is not drawn")
	}
}

// A box of the study's own values is in parentheses, and its median a ring.
func TestPublishedBoxes(t *testing.T) {
	res, err := evaluate.Run(recordtest.Paper().Open(t), evaluate.Options{Values: true})
	require.NoError(t, err)
	box := &stats.Box{Low: 1e8, Q1: 2e8, Median: 3e8, Q3: 4e8, High: 5e8}
	list := []figure.Figure{{Figure: figures.Figure{Name: "exec", Title: "Exec", Shows: "Figure 2", Kind: figures.Boxes},
		Panels: []figure.Panel{{Title: "echo", Unit: "ns", Boxes: []figure.Box{{Label: "ours", N: 10, Box: box}, {Label: "theirs", Published: true, N: 20, Box: box}}}}}}
	write := func(format string) string {
		var b strings.Builder
		require.NoError(t, Figures(&b, format, res, list, Options{}))
		return b.String()
	}
	text := write("text")
	for _, want := range []string{"(300)", "▒○▒", "▒●▒"} {
		if strings.Count(text, want) != 1 {
			t.Errorf("text has not one %q:\n%s", want, text)
		}
	}
	if s := write("csv"); strings.Count(s, ",true,") != 1 || strings.Count(s, ",false,") != 1 {
		t.Errorf("csv:\n%s", s)
	}
}

// A curve over time has its medians, its quartiles and a linear axis where it
// can be 0; of a ramp neighbours are taken together.
func TestFiguresOverTime(t *testing.T) {
	res, err := evaluate.Run(recordtest.Paper().Open(t), evaluate.Options{Values: true})
	require.NoError(t, err)
	series := figure.Line{Label: "docker"}
	ramp := figure.Line{Label: "podman"}
	for i := range 40 {
		v, lo, hi := float64(i)/20, float64(i)/40, float64(i)/10
		series.Points = append(series.Points, figure.Point{X: float64(i) / 10, Y: &sample.Estimate{Value: v, Lo: &lo, Hi: &hi}, N: 9})
		ramp.Points = append(ramp.Points, figure.Point{X: float64(i), Y: &sample.Estimate{Value: 1e8 + 1e6*float64(i%8)}})
	}
	list := []figure.Figure{
		{Figure: figures.Figure{Name: "cpu", Title: "CPU", Shows: "Figure 5", Kind: figures.Series}, Panels: []figure.Panel{{Title: "CPU, daemon", Unit: "CPUs", Over: "seconds", Lines: []figure.Line{series}}}},
		{Figure: figures.Figure{Name: "starts", Title: "Starts", Shows: "Figure 6", Kind: figures.Ramps, Part: "starts"}, Panels: []figure.Panel{{Title: "density", Unit: "ns", Over: "containers", Lines: []figure.Line{ramp}}}},
	}
	course := figure.Line{Label: "apptainer"}
	for i := range 100 {
		v := float64(1<<20) * float64(i)
		if i == 37 { // which lies between two points that every tenth would be
			v = 777 << 20
		}
		course.Points = append(course.Points, figure.Point{X: float64(i), Y: &sample.Estimate{Value: v}})
	}
	list = append(list, figure.Figure{Figure: figures.Figure{Name: "memory", Title: "Memory", Shows: "Figure 7", Kind: figures.Ramps, Part: figures.Course},
		Panels: []figure.Panel{{Title: "density", Unit: "bytes", Over: "seconds", Lines: []figure.Line{course}}}})
	var b strings.Builder
	require.NoError(t, Figures(&b, "text", res, list, Options{}))
	text := b.String()
	for _, want := range []string{"777", "36 to 44", "Of each stretch of time the most", "quartiles", "[0.9, 3.6]", "0 to 3", "36 to 39", "───●", "Medians over the trials", "came next to each other"} {
		if !strings.Contains(text, want) {
			t.Errorf("text lacks %q:\n%s", want, text)
		}
	}
}
