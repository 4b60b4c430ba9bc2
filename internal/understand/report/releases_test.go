package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/analyze/releases"
)

// released is a run of four releases, of which the third takes a fifth longer to start,
// the fourth fails, and the second is twice as large.
func released(t *testing.T, slower float64) *releases.Releases {
	t.Helper()
	s := recordtest.Spec{Name: "releases-crun", Seed: 4, Blocks: 30, PerBlock: 1, Shared: 0.1, Workloads: []record.Workload{{ID: "hello", Name: "hello"}}}
	var builds []record.Build
	for i, n := range []string{"1.8", "1.9", "1.10", "1.11"} {
		s.Envs = append(s.Envs, recordtest.Environment("oci/crun/build-"+n, "oci", "", map[string]string{"runtime": "crun", "build": n}))
		builds = append(builds, record.Build{Program: "crun", Level: n, Version: n, SHA256: "0", Bytes: []int64{5e5, 1e6, 1e6, 1e6}[i]})
	}
	c := recordtest.Cells{Spec: s, Noise: 0.02, Value: func(e *record.Environment, _ *record.Workload, metric string) (float64, bool) {
		v, ok := map[string]float64{"create": 10e6, "startup": 25e6}[metric]
		if e.Levels["build"] == "1.10" {
			v += slower
		}
		return v, ok
	}}
	c.Fails = func(e *record.Environment, _ *record.Workload, _ int) bool { return e.Levels["build"] == "1.11" }
	from := c.Open(t)
	from.Run().Builds = builds
	res, err := evaluate.Run(from, evaluate.Options{})
	require.NoError(t, err)
	r, err := releases.Of(res, from, releases.Options{Metrics: []string{"startup"}})
	require.NoError(t, err)
	return r
}

// TestReleases: every format has the step, at its release, and what failed.
func TestReleases(t *testing.T) {
	r := released(t, 5e6)
	verdict := releasesVerdict(r)
	if !strings.HasPrefix(verdict, "crun, 4 releases: slower with 1.10 (startup of hello +19") || !strings.Contains(verdict, "; create is 4.9") {
		t.Error(verdict)
	}
	for _, f := range Releases.Formats() {
		var b bytes.Buffer
		require.NoError(t, Releases.Write(&b, f, r, Options{Width: 100}))
		s := strings.TrimSpace(b.String())
		switch f {
		case "text":
			// The line is long: it may be broken.
			if !strings.Contains(s, "slower: start-up +19") || !strings.Contains(s, "larger: program 2.") || !strings.Contains(s, "n/a") || !strings.Contains(s, "\ncrun, 4 releases: slower with 1.10") {
				t.Errorf("%s", s)
			}
		case "markdown":
			if !strings.HasPrefix(s, "**crun, 4 releases: slower") || !strings.Contains(s, "1.10: slower than 1.9: startup of hello +19") {
				t.Errorf("%s", s)
			}
		case "csv":
			rows, err := csv.NewReader(strings.NewReader(s)).ReadAll()
			if err != nil || len(rows) != 13 || rows[3][1] != "1.10" || rows[3][12] != "worse" || rows[4][18] == "" {
				t.Errorf("%v: %s", err, s)
			}
		case "json":
			var back releases.Releases
			if err := json.Unmarshal([]byte(s), &back); err != nil || len(back.Steps) != 2 || back.Releases[2].Name != "1.10" {
				t.Errorf("%v: %s", err, s)
			}
		}
	}
	if got := releasesVerdict(released(t, 0)); got != "crun, 4 releases: no step of 5 % or more was found in 30 blocks" {
		t.Error(got)
	}
}
