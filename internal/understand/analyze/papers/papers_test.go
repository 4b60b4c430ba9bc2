package papers_test

import (
	"math"
	"strings"
	"testing"

	"plimsoll/internal/common/published"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/analyzetest"
	"plimsoll/internal/understand/analyze/papers"
)

func paperCell(t *testing.T, res *analyze.Result, table, row, engine, image string) analyze.PaperCell {
	t.Helper()
	for _, p := range res.Papers {
		for _, c := range p.Cells {
			if p.Table == table && c.Row == row && c.Engine == engine && c.Image == image {
				return c
			}
		}
	}
	t.Fatalf("no cell %s, %s, %s, %s", table, row, engine, image)
	return analyze.PaperCell{}
}

// Each published value stands there once, with the run's own number in the
// paper's unit or with the reason why there is none.
func TestPapers(t *testing.T) {
	res := analyzetest.Run(t, recordtest.Paper())
	for _, p := range res.Papers {
		want := len(published.Find(published.Query{Source: p.Source, Table: p.Table}))
		if p.Source == "silva2024" {
			want /= 2 // the baseline's own values
		}
		if len(p.Cells) != want {
			t.Errorf("%s has %d cells, want %d", p.Table, len(p.Cells), want)
		}
		for _, c := range p.Cells {
			if (c.Here == nil) == (c.Missing == "") {
				t.Errorf("%s: %+v", p.Table, c)
			}
		}
	}

	c := paperCell(t, res, "Table 3", "lifecycle-single/start", "docker", "ubuntu:18.04")
	if c.Published != 871 || c.CI95 == nil || *c.CI95 != 4 || c.SD == nil || *c.SD != 29 || c.Unit != "ms" || c.Note != "by a pipe" {
		t.Errorf("%+v", c)
	}
	if c.Env != "docker/debian" || c.Here == nil || math.Abs(c.Here.Value/210-1) > 0.05 || c.Here.Lo == nil || c.N != 20 {
		t.Errorf("%+v", c)
	}
	if c := paperCell(t, res, "Table 3", "lifecycle-single/start", "docker", "alpine:3"); c.Env != "docker/busybox" {
		t.Errorf("%+v", c)
	}

	// Per cent against native: redis has 90 % of native's rate in docker.
	c = paperCell(t, res, "Table 8", "redis/get/difference-vs-native", "docker", "ubuntu:18.04")
	if c.Env != "docker" || c.Here == nil || math.Abs(c.Here.Value+10) > 3 || *c.Here.Lo > c.Here.Value || *c.Here.Hi < c.Here.Value {
		t.Errorf("%+v", c)
	}
	// The paper's own loss, by its formula, where it gives points.
	c = paperCell(t, res, "Figure 4", "geekbench6/avg/single-core-score", "docker/linux 4 threads", "")
	of := published.Find(published.Query{Source: "silva2024", Table: "Figure 4", Workload: "geekbench6/avg", Metric: "single-core-score"})
	if len(of) != 2 {
		t.Fatalf("%+v", of)
	}
	native, docker := of[0].Value, of[1].Value
	if of[0].Engine != "native" {
		native, docker = docker, native
	}
	if want := 100 * (native - docker) / native; math.Abs(c.Published-want) > 1e-9 || c.Unit != "%" || c.From == "" || math.Abs(c.Here.Value-10) > 3 {
		t.Errorf("%+v, want %g", c, want)
	}
}

// A row may have images of its own: its size lies in them.
func TestImagesOfARow(t *testing.T) {
	s := recordtest.Paper()
	s.Tables[0].Rows[0].Images = []record.PaperColumn{{Published: "alpine:3", Levels: map[string][]string{"image": {"debian"}}}}
	res := analyzetest.Run(t, s)
	if c := paperCell(t, res, "Table 3", "lifecycle-single/start", "docker", "alpine:3"); c.Env != "docker/debian" || c.Here == nil {
		t.Errorf("%+v", c)
	}
	if c := paperCell(t, res, "Table 3", "lifecycle-single/start", "docker", "ubuntu:18.04"); c.Here != nil || !c.NoCounterpart || !strings.Contains(c.Missing, "no image") {
		t.Errorf("%+v", c)
	}
	if c := paperCell(t, res, "Table 3", "lifecycle-single/stop", "docker", "alpine:3"); c.Env != "docker/busybox" {
		t.Errorf("another row: %+v", c)
	}
}

// Where a study's raw values are public, their median stands beside its own
// statistic.
func TestPublishedMedian(t *testing.T) {
	s := recordtest.Paper()
	s.Tables = []record.PaperTable{{Source: "everarts2020", Table: published.EverartsTable("Hello World"),
		Engines: []record.PaperColumn{{Published: "docker/runc/overlay", Levels: map[string][]string{"engine": {"docker"}}}},
		Images:  []record.PaperColumn{{Published: "alpine", Levels: map[string][]string{"image": {"busybox"}}}},
		Rows:    []record.PaperRow{{Published: "hello-world/start", Workload: "hello", Metric: "startup"}}}}
	res := analyzetest.Run(t, s)
	c := paperCell(t, res, published.EverartsTable("Hello World"), "hello-world/start", "docker/runc/overlay", "alpine")
	m := c.PublishedMedian
	if c.Here == nil || c.Env != "docker/busybox" || m == nil || math.Round(m.Value) != 569 || m.Lo == nil || *m.Lo >= m.Value || *m.Hi <= m.Value || c.Published >= *m.Hi {
		t.Errorf("%+v, the median %+v", c, m)
	}
	if n := len(res.Papers[0].Cells); n != 3*72 {
		t.Errorf("%d published values are shown, want all %d", n, 3*72)
	}
}

// Nothing stands in silently: another level, another image and another engine
// are no match, and each gap has its own reason.
func TestPapersMissing(t *testing.T) {
	res := analyzetest.Run(t, recordtest.Paper())
	for _, c := range []struct {
		table, row, engine, image, why string
		none                           bool
	}{
		{"Table 3", "lifecycle-single/start", "balena", "ubuntu:18.04", "balenaEngine is not installed", false},
		{"Table 3", "lifecycle-single/start", "podman", "ubuntu:18.04", "every trial failed (engine-error:", false},
		{"Table 3", "lifecycle-single/start", "podman", "alpine:3", analyze.NotAsked, false},
		{"Table 3", "lifecycle-single/start", "docker", "centos:8", analyze.NotAsked, false},
		{"Table 3", "lifecycle-single/start", "singularity/docker-image", "alpine:3", "Nothing is converted at a start.", true},
		{"Table 3", "lifecycle-single/start", "sarus", "alpine:3", "nothing to compare with it", true},
		{"Table 8", "redis/set/difference-vs-native", "docker", "ubuntu:18.04", analyze.NotAsked, false},
		{"Table 8", "nginx/difference-vs-native", "docker", "ubuntu:18.04", "nothing to compare with it", true},
	} {
		got := paperCell(t, res, c.table, c.row, c.engine, c.image)
		if got.Here != nil || !strings.Contains(got.Missing, c.why) || got.NoCounterpart != c.none {
			t.Errorf("%s, %s, %s: %+v", c.row, c.engine, c.image, got)
		}
	}
	// With its environment gone, an ablation of it does not take its place.
	s := recordtest.Paper()
	s.Parts[1].Environments = []string{"native", "podman"}
	c := paperCell(t, analyzetest.Run(t, s), "Table 8", "redis/get/difference-vs-native", "docker", "ubuntu:18.04")
	if c.Here != nil || c.Missing != analyze.NotAsked {
		t.Errorf("%+v", c)
	}
}

func TestPapersUnits(t *testing.T) {
	for _, c := range []struct {
		ours, theirs string
		by           float64
		ok           bool
	}{
		{"ns", "ms", 1e-6, true}, {"ns", "us", 1e-3, true}, {"bytes", "MB", 1e-6, true}, {"bytes/s", "MB/s", 1e-6, true},
		{"ms", "ms", 1, true}, {"bytes", "ms", 0, false}, {"score", "points", 0, false},
	} {
		if by, ok := papers.InUnit(c.ours, c.theirs); by != c.by || ok != c.ok {
			t.Errorf("%s in %s: %g, %v", c.ours, c.theirs, by, ok)
		}
	}
	s := recordtest.Paper()
	s.Tables[0].Rows = append([]record.PaperRow{}, s.Tables[0].Rows...)
	s.Tables[0].Rows[0] = record.PaperRow{Published: "lifecycle-single/start", Workload: "redis", Metric: "get"}
	s.Parts[1].Environments = append(s.Parts[1].Environments, "docker/debian")
	s.Envs[2].Values = map[string]float64{"get": 1}
	c := paperCell(t, analyzetest.Run(t, s), "Table 3", "lifecycle-single/start", "docker", "ubuntu:18.04")
	if c.Here != nil || c.Missing != "requests/s can't be compared with ms" {
		t.Errorf("%+v", c)
	}
}

// What no part asks for is no gap.
func TestNotAsked(t *testing.T) {
	res := analyzetest.Run(t, recordtest.Paper())
	hello, redis := res.Workload("hello"), res.Workload("redis/small")
	if c := redis.Table("get").Cell("docker/debian"); c.Missing != analyze.NotAsked {
		t.Errorf("%+v", c)
	}
	if c := hello.Table("startup").Cell("docker"); c.Missing != analyze.NotAsked {
		t.Errorf("%+v", c)
	}
	for _, c := range redis.Counts {
		if (c.Trials == 0) != (c.Missing == analyze.NotAsked) {
			t.Errorf("%+v", c)
		}
	}
}
