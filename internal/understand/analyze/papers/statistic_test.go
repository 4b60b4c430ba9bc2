package papers_test

import (
	"math"
	"testing"
	"time"

	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze/analyzetest"
)

// Beside each median stands the paper's own estimator of the same values, in the
// same unit.
func TestStatistics(t *testing.T) {
	res := analyzetest.Run(t, recordtest.Paper())
	for _, p := range res.Papers {
		want := record.StatZMean
		if p.Source == "silva2024" {
			want = record.StatGeometricMean
		}
		if p.Statistic != want {
			t.Errorf("%s, %s by %q, want %q", p.Source, p.Table, p.Statistic, want)
		}
		for _, c := range p.Cells {
			if (c.Same != nil) != (c.Here != nil) {
				t.Errorf("%s, %s: %+v beside %+v", c.Row, c.Engine, c.Same, c.Here)
			}
		}
	}
	c := paperCell(t, res, "Table 3", "lifecycle-single/start", "docker", "ubuntu:18.04")
	if c.Same.CI95 == nil || c.Same.SD == nil || math.Abs(*c.Same.CI95-1.96**c.Same.SD/math.Sqrt(float64(c.N))) > 0.01 {
		t.Errorf("%+v", c.Same)
	}
	if r := c.Same.Value / c.Here.Value; r < 0.95 || r > 1.05 {
		t.Errorf("the mean is %g, the median %g", c.Same.Value, c.Here.Value)
	}
	// A percentage has the paper's estimator on both sides, and no interval.
	c = paperCell(t, res, "Table 8", "redis/get/difference-vs-native", "docker", "ubuntu:18.04")
	if math.Abs(c.Same.Value+10) > 2 || c.Same.CI95 != nil {
		t.Errorf("%+v", c.Same)
	}
	c = paperCell(t, res, "Figure 4", "geekbench6/avg/single-core-score", "docker/linux 4 threads", "")
	if math.Abs(c.Same.Value-10) > 2 {
		t.Errorf("%+v", c.Same)
	}
}

// A table may name another estimator than its source.
func TestStatisticOfATable(t *testing.T) {
	s := recordtest.Paper()
	s.Tables[0].Statistic = record.StatWithoutLargest
	res := analyzetest.Run(t, s)
	c := paperCell(t, res, "Table 3", "lifecycle-single/start", "docker", "alpine:3")
	if c.Same.Dropped != 5 || c.N != 20 || c.Same.Value >= c.Here.Value*1.01 {
		t.Errorf("%+v of %d values", c.Same, c.N)
	}
	if len(res.Papers[0].Apart) > 0 {
		t.Errorf("without intervals: %+v", res.Papers[0].Apart)
	}
}

// By the paper's rule two engines differ where their intervals are disjoint.
func TestApart(t *testing.T) {
	s := recordtest.Paper()
	s.Envs[6].FailEvery = 0
	s.Envs[6].StartUp = 211 * time.Millisecond // as good as docker's 210 ms, where theirs differ
	res := analyzetest.Run(t, s)
	a := res.Papers[0].Apart
	if len(a) == 0 || a[0].Row != "lifecycle-single/start" || a[0].Image != "ubuntu:18.04" || a[0].Pairs != 1 || a[0].Theirs != 1 {
		t.Fatalf("%+v", a)
	}
	if a[0].Ours != 0 || len(a[0].Otherwise) != 1 || a[0].Otherwise[0] != "docker and podman" {
		t.Errorf("%+v", a[0])
	}
}
