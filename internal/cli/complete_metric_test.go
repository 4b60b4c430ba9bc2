package cli

import (
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record/recordtest"
)

// A shell completes the metrics of the run that is named, and the life cycle's where
// none is.
func TestCompletesMetrics(t *testing.T) {
	dir := recordtest.Suite().Write(t)
	res, err := readResult(dir)
	require.NoError(t, err)
	id := res.Workloads[0].Tables[0].Metric.ID
	if id == "startup" {
		t.Fatal("the run's first metric is one of the life cycle")
	}
	for _, command := range []string{"report", "factors", "export"} {
		_, out, _ := drive("__complete", command, dir, "--metric", "")
		if !strings.HasPrefix(out, id+"\t") || strings.Count(out, id+"\t") != 1 {
			t.Errorf("%s completes\n%s, without %s", command, out, id)
		}
		for line := range strings.Lines(out) {
			if name, _, ok := strings.Cut(line, "\t"); ok {
				if status, _, errs := drive("report", dir, "--metric", name); status != 0 {
					t.Errorf("%s completes %s: %s", command, name, errs)
				}
			}
		}
		if _, out, _ := drive("__complete", command, t.TempDir(), "--metric", ""); !strings.HasPrefix(out, "startup\t") && !strings.Contains(out, "\nstartup\t") {
			t.Errorf("%s without a run completes\n%s", command, out)
		}
	}
}
