package report

import (
	"bytes"
	"testing"

	"plimsoll/internal/common/golden"
	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/timeline"
)

// TestSpans: the engine's own spans stand beside the path, with what was switched on for
// them, and where none came that is said.
func TestSpans(t *testing.T) {
	seen := followed(0)
	seen.Spans = []record.TraceSpan{
		{ID: [8]byte{1}, Service: "crio", Name: "runtime.v1.RuntimeService/Run<Pod>", From: 6e6, To: 70e6},
		{ID: [8]byte{2}, Parent: [8]byte{1}, Service: "crio", Name: "example.org/a/disk.(*Disk).Sync", From: 10e6, To: 36e6},
		{ID: [8]byte{3}, Parent: [8]byte{1}, Service: "crio", Name: "too short", From: 10e6, To: 10.1e6},
	}
	explain := func(t *testing.T) *timeline.Explanation {
		x, err := timeline.Explain([]*record.Trace{seen}, nil)
		require.NoError(t, err)
		x.Own(&timeline.OwnSpans{How: "It ran on a private daemon with its own tracing switched on.", ClockErrorNS: 12_000, Refused: 1})
		return x
	}
	var b bytes.Buffer
	require.NoError(t, Explanation.Write(&b, "text", explain(t), Options{Width: 110}))
	golden.Check(t, "testdata/spans.txt", b.String())
	seen.Spans = nil
	x := explain(t)
	if how := SpansHow(x.Spans); how != "It ran on a private daemon with its own tracing switched on. No span of these starts reached us." {
		t.Error(how)
	}
}
