package report

import (
	"bytes"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/density"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/document"
)

// protocolsResult is a run with ramps and open loops.
func protocolsResult(t *testing.T, ramps int) *analyze.Result {
	t.Helper()
	r := recordtest.Protocols(t, ramps, nil)
	res, err := evaluate.Run(r, evaluate.Options{})
	require.NoError(t, err)
	return res
}

// What ramps and open loops show beside their metrics.
func TestGoldenProtocols(t *testing.T) {
	write := in(document.Text, func(d *document.Document, res *analyze.Result, _ Options) {
		for i := range res.Workloads {
			addProtocols(d, &res.Workloads[i])
		}
	})
	for name, c := range map[string]struct {
		ramps int
		opts  Options
	}{"protocols.txt": {7, Options{}}, "protocols-one-60.txt": {1, Options{Width: 60, ASCII: true}}} {
		var b bytes.Buffer
		require.NoError(t, write(&b, protocolsResult(t, c.ramps), c.opts))
		isGolden(t, name, b.String())
	}
}

// A ramp that Plimsoll's own guard ended is told from one that met a limit.
func TestGuard(t *testing.T) {
	cells := []density.Cell{{Env: "docker", Asked: 40, Reached: 25, Limits: []record.Limit{{Class: "memory", Text: "too little is left", Guard: true}}}}
	if notes := strings.Join(footprints("density", cells).notes, "\n"); !strings.Contains(notes, "docker ended at 25 of 40 containers, guard memory: too little is left.") {
		t.Error(notes)
	}
}
