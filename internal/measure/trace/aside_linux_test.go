package trace

import (
	"testing"

	"plimsoll/internal/record"
)

// TestAside: the thread that listens while a start goes on is no part of it.
func TestAside(t *testing.T) {
	g := &gathering{watcher: 7}
	for _, c := range []struct {
		in, out record.TraceEvent
		left    bool
	}{
		{record.TraceEvent{Kind: record.TraceSwitch, Thread: 7, Other: 3}, record.TraceEvent{Kind: record.TraceSwitch, Other: 3}, true},
		{record.TraceEvent{Kind: record.TraceSwitch, Thread: 3, Other: 7}, record.TraceEvent{Kind: record.TraceSwitch, Thread: 3}, true},
		{record.TraceEvent{Kind: record.TraceWake, Thread: 7, Other: 3}, record.TraceEvent{Kind: record.TraceWake, Other: 3}, true},
		{in: record.TraceEvent{Kind: record.TraceWake, Thread: 3, Other: 7}},
		{in: record.TraceEvent{Kind: record.TraceFork, Thread: 3, Other: 7}},
		{in: record.TraceEvent{Kind: record.TraceCode, Thread: 7}},
		{record.TraceEvent{Kind: record.TraceWake, Thread: 3, Other: 4}, record.TraceEvent{Kind: record.TraceWake, Thread: 3, Other: 4}, true},
	} {
		got := c.in
		if left := g.aside(&got); left != c.left || left && (got.Thread != c.out.Thread || got.Other != c.out.Other) {
			t.Errorf("%+v becomes %+v, %t", c.in, got, left)
		}
	}
}
