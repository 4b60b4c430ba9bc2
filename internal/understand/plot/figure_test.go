package plot

import (
	"bytes"
	"errors"
	"testing"

	"plimsoll/internal/common/published/figures"
	"plimsoll/internal/common/require"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/understand/analyze/figure"
	"plimsoll/internal/understand/analyze/sample"
)

func figureSVG(t *testing.T, f *figure.Figure) *element {
	t.Helper()
	f.Source, f.Name, f.Title, f.Shows = "baresi2024", "made", "made up", "Table 3"
	var b bytes.Buffer
	require.NoError(t, DrawFigure(&b, "svg", f, made(), Options{}))
	return parse(t, b.Bytes())
}

func marks(root *element, class string) []*element {
	var out []*element
	for _, g := range root.all("g") {
		if g.attrs["class"] == class {
			out = append(out, g)
		}
	}
	return out
}

// Theirs is drawn above ours, both on one axis, and theirs where there is none of
// ours as well.
func TestFigureBars(t *testing.T) {
	f := &figure.Figure{Figure: figures.Figure{Kind: figures.Bars}, Panels: []figure.Panel{{Title: "start", Unit: "ms", Bars: []figure.Bar{
		{Label: "docker", Theirs: sample.Estimate{Value: 871, Lo: ptr(867), Hi: ptr(875)}, Here: &sample.Estimate{Value: 230, Lo: ptr(220), Hi: ptr(240)}, Env: "docker/runc", N: 8},
		{Label: "podman", Theirs: sample.Estimate{Value: 10}, Missing: "it did not run"},
	}}}}
	rows := marks(figureSVG(t, f), "cell")
	if len(rows) != 2 {
		t.Fatalf("%d rows", len(rows))
	}
	// A published mark is a diamond, one of ours in this engine a dot.
	if n, m := len(rows[0].all("polygon")), len(rows[0].all("circle")); n != 1 || m != 1 {
		t.Errorf("%d published and %d of ours", n, m)
	}
	if n, m := len(rows[1].all("polygon")), len(rows[1].all("circle")); n != 1 || m != 0 {
		t.Errorf("%d published and %d of ours", n, m)
	}
}

func TestFigureLines(t *testing.T) {
	y := func(v float64) *sample.Estimate { return &sample.Estimate{Value: v} }
	f := &figure.Figure{Figure: figures.Figure{Kind: figures.Ramps}, Panels: []figure.Panel{{Title: "density", Unit: "ns", Over: "containers", Lines: []figure.Line{
		{Label: "docker/runc", Env: "docker/runc", Points: []figure.Point{{X: 0, Y: y(1e8)}, {X: 1, Y: y(2e8)}, {X: 2}}},
		{Label: "docker", Env: "docker/runc", Published: true, Points: []figure.Point{{X: 0, Y: y(4e8)}, {X: 2, Y: y(4e8)}}},
	}}}}
	root := figureSVG(t, f)
	if n := len(marks(root, "curve")[0].all("circle")); n != 2 {
		t.Errorf("%d points, not 2", n)
	}
	theirs := marks(root, "published")
	if len(theirs) != 1 || theirs[0].all("line")[0].attrs["stroke-dasharray"] == "" {
		t.Errorf("%d published lines, or not dashed", len(theirs))
	}
}

func TestFigureBoxes(t *testing.T) {
	f := &figure.Figure{Figure: figures.Figure{Kind: figures.Boxes}, Panels: []figure.Panel{{Title: "hello", Unit: "ns", Boxes: []figure.Box{
		{Label: "docker/runc", Env: "docker/runc", N: 20, Box: &stats.Box{Low: 1e6, Q1: 2e6, Median: 3e6, Q3: 4e6, High: 5e6, Out: []float64{9e6, 9.5e6}}},
		{Label: "native", Env: "native", N: 3, Values: []float64{1e6, 2e6, 3e6}},
		{Label: "broken", Env: "broken", Missing: "every trial failed"},
		{Label: "docker", Env: "docker/runc", Published: true, N: 20, Box: &stats.Box{Low: 1e6, Q1: 2e6, Median: 3e6, Q3: 4e6, High: 5e6}},
	}}}}
	root := figureSVG(t, f)
	if n := len(marks(root, "published")); n != 1 {
		t.Errorf("%d published boxes", n)
	}
	rows := marks(root, "cell")
	// Each row has a glyph before its name, the last one too.
	for i, want := range []struct{ circles, rects int }{{3, 1}, {4, 0}} {
		if n, m := len(rows[i].all("circle")), len(rows[i].all("rect")); n != want.circles || m != want.rects {
			t.Errorf("row %d: %d points and %d boxes, not %d and %d", i, n, m, want.circles, want.rects)
		}
	}
}

func TestFigureSeries(t *testing.T) {
	d := made()
	d.Works[0].Name = "echo"
	f := &figure.Figure{Figure: figures.Figure{Source: "x", Name: "cpu", Title: "CPU", Shows: "Figure 5", Kind: figures.Series, Workload: "echo", Metric: "cpu"}}
	var b bytes.Buffer
	if err := DrawFigure(&b, "svg", f, d, Options{}); err != nil || len(marks(parse(t, b.Bytes()), "curve")) != 2 {
		t.Errorf("%v", err)
	}
	// Of other series than the run has there is nothing, and the page goes without.
	f.Metric = "host-received"
	if err := DrawFigure(&b, "svg", f, d, Options{}); !errors.Is(err, ErrNoData) {
		t.Errorf("%v", err)
	}
	f.Workload = "nope"
	if err := DrawFigure(&b, "svg", f, d, Options{}); !errors.Is(err, ErrNoData) {
		t.Errorf("%v", err)
	}
	f.Missing = "it needs a cluster."
	if err := DrawFigure(&b, "svg", f, d, Options{}); !errors.Is(err, ErrNoData) {
		t.Errorf("%v", err)
	}
}
