package page

import (
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/timeline"
)

func TestLanesOfNothing(t *testing.T) {
	var b strings.Builder
	if err := WriteLanes(&b, &timeline.Explanation{Lacks: "root"}); err == nil || b.Len() > 0 {
		t.Errorf("%v: %s", err, b.String())
	}
}

// TestLanesTellTracing: the page says what tracing cost, and what was not recorded.
func TestLanesTellTracing(t *testing.T) {
	x, err := timeline.Explain([]*record.Trace{{
		TraceHead: record.TraceHead{What: "client", Until: "ready", To: 21e6, Waiter: 1, Threads: []record.TraceThread{{ID: 1, Process: 1, Name: "client"}}},
		Tail:      &record.TraceTail{Lost: 7},
	}}, []int64{20e6})
	require.NoError(t, err)
	var b strings.Builder
	require.NoError(t, WriteLanes(&b, x))
	if want := "Tracing makes it 1.050 × as long. The kernel had no room for 7 events"; !strings.Contains(b.String(), want) {
		t.Errorf("it does not say %q", want)
	}
}
