package figure_test

import (
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/published/figures"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze/figure"
)

// Environments that differ in how much data their image has alone are one line,
// by the number and not by the name; what the table sets beside them is another.
func TestOverData(t *testing.T) {
	s := recordtest.Typical()
	s.Name, s.Envs, s.Excluded, s.Parts = "everarts2020", nil, nil, nil
	for storage, factor := range map[string]time.Duration{"btrfs": 2, "overlay2": 1} {
		for i, size := range []string{"1000", "10", "100"} {
			image := "plimsoll/archive-" + size + ":busybox"
			e := recordtest.Env{StartUp: factor * time.Duration([]int{400, 100, 200}[i]) * time.Millisecond}
			e.Environment = record.Environment{ID: "docker/" + storage + "/plimsoll-archive-" + size + "-busybox", Engine: "docker", Clock: record.ClockShared,
				Levels: map[string]string{"storage": storage, "image": image}}
			s.Envs = append(s.Envs, e)
		}
	}
	other := recordtest.Env{StartUp: time.Second}
	other.Environment = record.Environment{ID: "docker/vfs/debian", Engine: "docker", Clock: record.ClockShared, Levels: map[string]string{"storage": "vfs", "image": "debian"}}
	s.Envs = append(s.Envs, other)
	images := func(size string) []record.PaperColumn {
		return []record.PaperColumn{{Published: "alpine", Levels: map[string][]string{"image": {"plimsoll/archive-" + size + ":busybox"}}}}
	}
	s.Tables = []record.PaperTable{{Source: "everarts2020", Table: "Data set, IO write",
		Engines: []record.PaperColumn{{Published: "docker/runc/overlay", Levels: map[string][]string{"engine": {"docker"}, "storage": {"overlay2"}}}},
		Rows: []record.PaperRow{
			{Published: "io-write-xs/exec", Workload: "hello", Metric: "startup", Images: images("10")},
			{Published: "io-write-md/exec", Workload: "hello", Metric: "startup", Images: images("1000")},
		}}}
	f := figures.Figure{Source: "everarts2020", Name: "unpack", Kind: figures.Curves, Workload: "hello", Metric: "startup", Over: figures.OverData}
	res := result(t, s)
	got := figure.Of(res, []figures.Figure{f})[0]
	if len(got.Panels) != 1 || got.Missing != "" {
		t.Fatalf("%+v", got)
	}
	p := got.Panels[0]
	if p.Over != "files in the image's archive" || p.XUnit != "" || p.Unit != "ns" || len(p.Lines) != 3 {
		t.Fatalf("%+v", p)
	}
	seen := map[string]bool{}
	for _, l := range p.Lines[:2] {
		seen[l.Label] = true
		if len(l.Points) != 3 || l.Published {
			t.Fatalf("%+v", l)
		}
		for i, x := range []float64{10, 100, 1000} {
			q := l.Points[i]
			if q.X != x || q.Y == nil || q.Y.Lo == nil || i > 0 && q.Y.Value <= l.Points[i-1].Y.Value {
				t.Errorf("%s: %+v", l.Label, q)
			}
		}
	}
	if !seen["docker/btrfs"] || !seen["docker/overlay2"] {
		t.Errorf("%v", seen)
	}
	if l := p.Lines[2]; !l.Published || len(l.Points) != 2 || l.Points[0].X != 10 || l.Points[1].X != 1000 || l.Points[1].Y.Value <= l.Points[0].Y.Value {
		t.Errorf("%+v", l)
	}
	f.Metric = "nope"
	if got := figure.Of(res, []figures.Figure{f})[0]; !strings.Contains(got.Missing, "two sizes of the data") {
		t.Errorf("%+v", got)
	}
}
