package plot

import (
	"bytes"
	"strings"
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/releases"
	"plimsoll/internal/understand/analyze/sample"
)

// TestReleases: a picture has each release by its name, its steps, and in its
// description what a reader who does not see it is told.
func TestReleases(t *testing.T) {
	r := &releases.Releases{Program: "crun", Blocks: 30, Threshold: 0.05, Alpha: 0.05, Method: "ranks",
		Releases: []releases.Release{{Name: "1.8"}, {Name: "1.9"}, {Name: "1.10"}},
		Series: []releases.Series{{Workload: "hello", Env: "oci/crun", Metric: record.Metric{ID: "startup", Unit: "ns", Title: "start-up"},
			Points: []releases.Point{{Estimate: &sample.Estimate{Value: 20e6}}, {Missing: "it did not run"}, {Estimate: &sample.Estimate{Value: 25e6}}},
			Levels: []releases.Level{{First: 0, Last: 0, Value: 20e6}, {First: 2, Last: 2, Value: 25e6}}},
			{Metric: releases.Size, Points: []releases.Point{{Estimate: &sample.Estimate{Value: 1e6}}, {Estimate: &sample.Estimate{Value: 1e6}}, {Estimate: &sample.Estimate{Value: 1e6}}},
				Levels: []releases.Level{{Last: 2, Value: 1e6}}}},
		Steps: []releases.Step{{Before: 0, After: 2, Ratio: sample.Estimate{Value: 1.25}, Direction: compare.Worse}}}
	for _, format := range Formats() {
		var b bytes.Buffer
		if err := Releases(&b, format, r, Options{}); err != nil || b.Len() == 0 {
			t.Fatalf("%s: %d bytes: %v", format, b.Len(), err)
		}
		if format != "svg" {
			continue
		}
		for _, want := range []string{">1.8<", ">1.10<", "crun over its releases", "× 1.25 worse", "since 1.10"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("no %q in\n%s", want, b.String())
			}
		}
	}
	if err := Releases(&bytes.Buffer{}, "svg", &releases.Releases{}, Options{}); err == nil {
		t.Error("nothing was drawn")
	}
}
