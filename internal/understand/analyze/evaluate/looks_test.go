package evaluate_test

import (
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/analyzetest"
	"plimsoll/internal/understand/analyze/evaluate"
)

// A run that cells left is not incomplete, and says who left when.
func TestLooksAreSaid(t *testing.T) {
	spec := analyzetest.Session(3, 1, nil)
	run := spec.Run()
	run.Protocol.Until = 0.05
	run.Looks = []record.Look{
		{Rule: record.RuleUntil, Blocks: 10, Cells: []record.LookCell{{Env: "crun", Workload: "hello", Left: true}, {Env: "runc", Workload: "hello"}}},
		{Rule: record.RuleUntil, Blocks: 20, Ended: true, Why: "every ratio is known to ± 5 %"},
	}
	run.Protocol.Blocks = 80
	dir := t.TempDir() + "/run"
	w, err := record.Create(dir, run)
	require.NoError(t, err)
	for tr := range spec.Trials() {
		if tr.Env == "crun" && tr.Block > 10 { // after the warm-up block and ten others
			continue
		}
		require.NoError(t, w.Append(tr))
	}
	require.NoError(t, w.Close())
	r, err := record.Open(dir)
	require.NoError(t, err)
	res, err := evaluate.Run(r, evaluate.Options{})
	require.NoError(t, err)
	if analyzetest.Has(res, "incomplete", "", "") || analyzetest.Has(res, "incomplete", "crun", "") {
		t.Error("it is said to be incomplete")
	}
	if !strings.HasSuffix(res.Run.Repeat, " --until 5% --max-blocks 80") {
		t.Error(res.Run.Repeat)
	}
	var said []string
	for _, m := range res.Remarks {
		if m.Code == "looked" {
			said = append(said, m.Text)
		}
	}
	if len(said) != 2 || !strings.Contains(said[0], "left after 10 blocks") || !strings.HasSuffix(said[0], ": crun with hello") || !strings.Contains(said[1], "ended after 20 blocks: every ratio") {
		t.Errorf("%q", said)
	}
	c := analyzetest.Cell(t, res, "startup", "crun")
	if q := c.Ratio("native"); c.N != 10 || q.Blocks != 10 {
		t.Errorf("crun: n %d, %d pairs", c.N, q.Blocks)
	}
}
