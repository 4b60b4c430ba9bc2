package compare_test

import (
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
)

// A portable record of an earlier version has the client as its host, whose processors are
// no reason against a gate. Those of two machines of engines are.
func TestPortableOfBefore(t *testing.T) {
	before := record.Host{Name: "laptop", OS: "darwin", Arch: "arm64", CPUs: 10, More: map[string]string{"half": "portable"}}
	now := record.Host{Name: "docker-desktop", OS: "Docker Desktop", Arch: "arm64", CPUs: 5, More: map[string]string{"half": "portable", "client": "laptop"}}
	other, full, arch := now, before, now
	other.CPUs, full.More, arch.Arch = 6, nil, "amd64"
	for _, c := range []struct {
		what      string
		base, now record.Host
		facts     int
		bars      bool
	}{
		{"before and now", before, now, 0, false},
		{"now and before", now, before, 0, false},
		{"another architecture", before, arch, 1, true},
		{"two machines", now, other, 1, true},
		{"the other half", full, now, 3, true},
	} {
		facts := compare.Facts(&analyze.Result{Run: analyze.RunInfo{Host: c.base}}, &analyze.Result{Run: analyze.RunInfo{Host: c.now}})
		bars := false
		for _, f := range facts {
			bars = bars || f.Bars
		}
		if len(facts) != c.facts || bars != c.bars {
			t.Errorf("%s: %+v", c.what, facts)
		}
	}
}
