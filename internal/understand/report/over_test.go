package report

import (
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
)

// sizes is a run of one workload at three sizes; no trial of podman's ended.
func sizes() recordtest.Spec {
	s := values()
	m := s.Workloads[0].Metrics
	s.Workloads = nil
	for _, size := range []string{"10MB", "100kB", "1MB"} {
		s.Workloads = append(s.Workloads, record.Workload{ID: "read/" + size, Name: "read", Title: "read", Metrics: m,
			Params: map[string]string{"size": size, "files": "own"}})
	}
	s.Envs[5].FailEvery, s.Envs[5].Class = 1, record.EngineError
	return s
}

// The table has each level of each environment, ascending, with its median, and
// a reason where it has none; so have the other formats.
func TestOver(t *testing.T) {
	s := sizes()
	res := result(t, s)
	for _, format := range []string{"text", "markdown"} {
		got := render(t, format, res, Options{Over: AnyParameter, Metric: "events"})
		if !strings.Contains(got, "read, files=own over size: events; ") || strings.Count(got, "100kB") != len(s.Envs) {
			t.Errorf("%s:\n%s", format, got)
		}
		small, large := strings.Index(got, "100kB"), strings.Index(got, "10MB")
		if small < 0 || large < small || strings.Count(got, "n/a: ") != 3 {
			t.Errorf("%s: levels are not in their order, or n/a is missing:\n%s", format, got)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(render(t, "csv", res, Options{Over: "size"}))).ReadAll()
	if err != nil || len(rows) != 1+3*len(s.Envs) || rows[1][4] != "100kB" || rows[1][5] != "100000" || rows[1][6] != "bytes" {
		t.Errorf("%v: %v", err, rows)
	}
	var doc struct{ Points []overPoint }
	require.NoError(t, json.Unmarshal([]byte(render(t, "json", res, Options{Over: "size", Metric: "events"})), &doc))
	for _, p := range doc.Points {
		if (p.Median == nil) == (p.Missing == "") {
			t.Errorf("%+v", p)
		}
	}
}

func TestOverRefuses(t *testing.T) {
	for want, c := range map[string]struct {
		s    recordtest.Spec
		over string
	}{
		`no numeric parameter with two levels "files": there is size`: {sizes(), "files"},
		"none of its workloads has two levels":                        {values(), AnyParameter},
	} {
		var b strings.Builder
		if err := Write(&b, "text", result(t, c.s), Options{Over: c.over}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
