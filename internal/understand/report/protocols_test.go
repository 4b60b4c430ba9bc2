package report

import (
	"bytes"
	"testing"

	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/document"
)

// protocolsResult is a run with ramps and open loops.
func protocolsResult(t *testing.T, ramps int) *analyze.Result {
	t.Helper()
	r := recordtest.Protocols(t, ramps, nil)
	res, err := evaluate.Run(r, evaluate.Options{})
	if err != nil {
		t.Fatal(err)
	}
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
		if err := write(&b, protocolsResult(t, c.ramps), c.opts); err != nil {
			t.Fatal(err)
		}
		isGolden(t, name, b.String())
	}
}
