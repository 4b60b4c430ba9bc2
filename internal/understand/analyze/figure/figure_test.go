package figure_test

import (
	"math"
	"strings"
	"testing"

	"plimsoll/internal/common/published"
	"plimsoll/internal/common/published/figures"
	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/density"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/analyze/figure"
)

func result(t *testing.T, s recordtest.Spec) *analyze.Result {
	t.Helper()
	res, err := evaluate.Run(s.Open(t), evaluate.Options{Values: true})
	require.NoError(t, err)
	return res
}

// Each published value of the row is a bar, with ours or the reason why there is
// none.
func TestBars(t *testing.T) {
	f := figures.Figure{Source: "baresi2024", Name: "start", Kind: figures.Bars, Table: "Table 3", Rows: []string{"lifecycle-single/start"}}
	got := figure.Of(result(t, recordtest.Paper()), []figures.Figure{f})[0]
	if len(got.Panels) != 1 || len(got.Panels[0].Bars) != 21 || got.Panels[0].Unit != "ms" || got.Missing != "" {
		t.Fatalf("%+v", got)
	}
	for _, b := range got.Panels[0].Bars {
		if (b.Here == nil) == (b.Missing == "") || b.Theirs.Lo == nil {
			t.Errorf("%+v", b)
		}
	}
	if b := got.Panels[0].Bars[0]; b.Label != "docker, ubuntu:18.04" || b.Theirs.Value != 871 || *b.Theirs.Hi != 875 || b.Env != "docker/debian" || math.Abs(b.Here.Value/210-1) > 0.05 {
		t.Errorf("%+v", b)
	}
	f.Table, f.Rows = "Table 5", nil
	if got := figure.Of(result(t, recordtest.Paper()), []figures.Figure{f})[0]; !strings.Contains(got.Missing, "nothing to compare with these values of Table 5") {
		t.Errorf("%+v", got)
	}
}

func TestBoxes(t *testing.T) {
	f := figures.Figure{Source: "x", Name: "b", Kind: figures.Boxes, Workload: "hello", Metric: "startup"}
	got := figure.Of(result(t, recordtest.Paper()), []figures.Figure{f})[0]
	if len(got.Panels) != 1 {
		t.Fatalf("%+v", got)
	}
	boxes := 0
	for _, b := range got.Panels[0].Boxes {
		if x := b.Box; x != nil {
			if boxes++; !(x.Low <= x.Q1 && x.Q1 <= x.Median && x.Median <= x.Q3 && x.Q3 <= x.High) || b.N != 20 {
				t.Errorf("%+v", b)
			}
		} else if b.Missing == "" {
			t.Errorf("%+v", b)
		}
	}
	if boxes != 3 {
		t.Errorf("%d boxes, not 3", boxes)
	}
	// Few values are shown themselves.
	s := recordtest.Paper()
	s.Blocks, s.PerBlock = 3, 1
	for _, b := range figure.Of(result(t, s), []figures.Figure{f})[0].Panels[0].Boxes {
		if b.Box != nil || b.Missing == "" && len(b.Values) != 3 {
			t.Errorf("%+v", b)
		}
	}
	f.Metric = "nope"
	if got := figure.Of(result(t, s), []figures.Figure{f})[0]; got.Missing != "this run has no nope of hello" {
		t.Errorf("%+v", got)
	}
}

// Where the study's own values are public, their box is below ours, in our unit, and
// none stands beside what was not measured.
func TestTheirBoxes(t *testing.T) {
	s := recordtest.Paper()
	engine := func(name string) map[string][]string { return map[string][]string{"engine": {name}} }
	s.Tables = []record.PaperTable{{Source: "everarts2020", Table: published.EverartsTable("Hello World"),
		Engines: []record.PaperColumn{{Published: "docker/runc/overlay", Levels: engine("docker")}, {Published: "lxd/lxc/dir", Levels: engine("lxd")}},
		Images:  []record.PaperColumn{{Published: "alpine", Levels: map[string][]string{"image": {"debian"}}}},
		Rows:    []record.PaperRow{{Published: "hello-world/exec", Workload: "hello", Metric: "startup"}}}}
	f := figures.Figure{Source: "everarts2020", Name: "exec", Kind: figures.Boxes, Workload: "hello", Metric: "startup"}
	boxes := figure.Of(result(t, s), []figures.Figure{f})[0].Panels[0].Boxes
	theirs := 0
	for i, b := range boxes {
		if !b.Published {
			continue
		}
		theirs++
		if b.Label != "docker/runc/overlay, alpine" || b.Env != "docker/debian" || boxes[i-1].Env != b.Env || b.N != 20 || b.Box == nil || math.Round(b.Box.Median/1e6) != 387 {
			t.Errorf("%+v after %+v", b, boxes[i-1])
		}
	}
	if theirs != 1 {
		t.Errorf("%d boxes of theirs", theirs)
	}
	f.Source = "baresi2024"
	for _, b := range figure.Of(result(t, s), []figures.Figure{f})[0].Panels[0].Boxes {
		if b.Published {
			t.Errorf("another paper's: %+v", b)
		}
	}
}

// Published values that a table sets beside the levels of a curve are points of a
// curve of theirs, in our unit.
func TestCurves(t *testing.T) {
	s := recordtest.Paper()
	m := []record.Metric{{ID: "read-time", Unit: "ns", Better: record.LowerIsBetter, Title: "read", What: "read"}}
	s.Workloads, s.Parts, s.Tables = nil, nil, s.Tables[:1]
	for _, size := range []string{"10MB", "100kB"} {
		s.Workloads = append(s.Workloads, record.Workload{ID: "read/" + size, Name: "read", Title: "read", Metrics: m, Params: map[string]string{"size": size}})
	}
	for i := range s.Envs {
		s.Envs[i].Values = map[string]float64{"read-time": 5e6}
	}
	s.Tables[0].Images = s.Tables[0].Images[:1]
	s.Tables[0].Rows = []record.PaperRow{
		{Published: "lifecycle-single/start", Workload: "read", Params: map[string]string{"size": "10MB"}, Metric: "read-time"},
		{Published: "lifecycle-single/stop", Workload: "read", Params: map[string]string{"size": "100kB"}, Metric: "read-time"},
	}
	f := figures.Figure{Source: "baresi2024", Name: "c", Kind: figures.Curves, Workload: "read", Metric: "read-time", Over: "size"}
	got := figure.Of(result(t, s), []figures.Figure{f})[0]
	if len(got.Panels) != 1 || got.Panels[0].XUnit != "bytes" || got.Panels[0].Unit != "ns" {
		t.Fatalf("%+v", got)
	}
	ours, theirs := 0, 0
	for _, l := range got.Panels[0].Lines {
		if !l.Published {
			if ours++; len(l.Points) != 2 || l.Points[0].X != 100e3 || l.Points[1].X != 10e6 {
				t.Errorf("%+v", l)
			}
			continue
		}
		if theirs++; l.Label != "docker, ubuntu:18.04" || len(l.Points) != 2 || l.Points[0].Y.Value != 0.08e6 || l.Points[1].Y.Value != 871e6 {
			t.Errorf("%+v", l)
		}
	}
	if ours != 6 || theirs != 1 {
		t.Errorf("%d of ours, %d of theirs", ours, theirs)
	}
}

// A ramp's memory is what is not free, and the published mean of one container is a
// slope; of the footprint the parts are added up, and none of what has them in it.
func TestRamps(t *testing.T) {
	res := &analyze.Result{}
	c := density.Cell{Env: "docker", Starts: &density.Points{N: []float64{0, 1, 2}, Y: []float64{1e8, 2e8, 3e8}}, Memory: map[string]density.Points{
		"payload": {N: []float64{0, 1, 2}, Y: []float64{50, 60, 70}}, "kernel": {N: []float64{0, 1, 2}, Y: []float64{0, 1, 2}}, "host": {N: []float64{0, 1, 2}, Y: []float64{0, 100, 200}},
		"free": {N: []float64{0, 1, 2}, Y: []float64{7, 207, 407}}, "told": {N: []float64{0, 2}, Y: []float64{0, 2}},
	}}
	res.Workloads = []analyze.Workload{{ID: "density/3", Name: "density", Density: []density.Cell{c, {Env: "broken"}}}}
	res.Papers = []analyze.PaperTable{{Source: "baresi2024", Table: "Table 5", Cells: []analyze.PaperCell{
		{Engine: "docker", Row: "r", Unit: "MB", Published: 24, Workload: "density/3", Env: "docker"}, {Engine: "podman", Row: "r", Unit: "MB", Published: 20},
	}}}
	f := figures.Figure{Source: "baresi2024", Name: "m", Kind: figures.Ramps, Workload: "density", Part: "memory", Table: "Table 5"}
	got := figure.Of(res, []figures.Figure{f})[0]
	if len(got.Panels) != 1 || len(got.Panels[0].Lines) != 2 {
		t.Fatalf("%+v", got)
	}
	if l := got.Panels[0].Lines[0]; len(l.Points) != 3 || l.Points[2].Y.Value != 400 || l.Published {
		t.Errorf("%+v", l)
	}
	if l := got.Panels[0].Lines[1]; !l.Published || l.Points[0].Y.Value != 0 || l.Points[1].X != 2 || l.Points[1].Y.Value != 48e6 {
		t.Errorf("%+v", l)
	}
	f.Part = "footprint"
	if l := figure.Of(res, []figures.Figure{f})[0].Panels[0].Lines[0]; len(l.Points) != 3 || l.Points[2].Y.Value != 22 {
		t.Errorf("%+v", l)
	}
	delete(c.Memory, "free") // as records had it once
	f.Part = "memory"
	if got := figure.Of(res, []figures.Figure{f})[0]; got.Missing == "" {
		t.Errorf("%+v", got)
	}
	f.Part = "course"
	if got := figure.Of(res, []figures.Figure{f})[0]; got.Missing == "" {
		t.Errorf("%+v", got)
	}
	res.Workloads[0].Density[0].Course = &density.Points{N: []float64{0, 0.5, 1}, Y: []float64{0, 90, 20}}
	if p := figure.Of(res, []figures.Figure{f})[0].Panels[0]; p.Unit != "bytes" || !strings.HasPrefix(p.Over, "seconds") || p.Lines[0].Points[1].X != 0.5 || p.Lines[0].Points[1].Y.Value != 90 {
		t.Errorf("%+v", p)
	}
	f.Part = "starts"
	if l := figure.Of(res, []figures.Figure{f})[0].Panels[0].Lines; len(l) != 1 || l[0].Points[2].Y.Value != 3e8 {
		t.Errorf("%+v", l)
	}
	f.Part = "stops"
	if got := figure.Of(res, []figures.Figure{f})[0]; got.Missing == "" {
		t.Errorf("%+v", got)
	}
}
