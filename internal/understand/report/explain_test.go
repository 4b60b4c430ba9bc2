package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"plimsoll/internal/common/golden"
	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/timeline"
)

// followed is made up: a client asks a daemon, which waits for the disk and for a
// runtime; long is the runtime's time, ns.
func followed(long int64) *record.Trace {
	t := &record.Trace{TraceHead: record.TraceHead{
		What: "client run <x>", Until: "exit", To: 80e6 + long, Waiter: 1,
		Threads: []record.TraceThread{{ID: 1, Process: 1, Name: "client", Command: "client run"}, {ID: 2, Process: 2, Name: "daemon", Command: "daemon"}},
		Calls:   map[int]string{1: "read", 2: "fsync", 3: "mount"},
		Frames:  []string{"unix_stream_read_generic", "jbd2_log_wait_commit", "vfs_fsync_range", "pipe_read"},
	}, Tail: &record.TraceTail{}}
	add := func(at int64, e record.TraceEvent) {
		e.At = at
		t.Events = append(t.Events, e)
	}
	add(5e6, record.TraceEvent{Kind: record.TraceWake, Thread: 1, Other: 2})
	add(5e6, record.TraceEvent{Kind: record.TraceSwitch, Other: 2, CPU: 1, Runnable: true})
	add(6e6, record.TraceEvent{Kind: record.TraceEnter, Thread: 1, Call: 1})
	add(6e6, record.TraceEvent{Kind: record.TraceSwitch, Thread: 1, Stack: []int{0}})
	add(10e6, record.TraceEvent{Kind: record.TraceEnter, Thread: 2, CPU: 1, Call: 2})
	add(10e6, record.TraceEvent{Kind: record.TraceSwitch, Thread: 2, CPU: 1, Stack: []int{1, 2}})
	add(35e6, record.TraceEvent{Kind: record.TraceWake, Thread: 99, Other: 2, Interrupt: true})
	add(36e6, record.TraceEvent{Kind: record.TraceSwitch, Other: 2, CPU: 1, Runnable: true})
	add(36e6, record.TraceEvent{Kind: record.TraceLeave, Thread: 2, CPU: 1, Call: 2})
	add(40e6, record.TraceEvent{Kind: record.TraceFork, Thread: 2, Other: 3})
	add(41e6, record.TraceEvent{Kind: record.TraceSwitch, Other: 3, Runnable: true})
	add(41e6, record.TraceEvent{Kind: record.TraceExec, Thread: 3, Text: "runc create"})
	add(42e6, record.TraceEvent{Kind: record.TraceEnter, Thread: 2, CPU: 1, Call: 1})
	add(42e6, record.TraceEvent{Kind: record.TraceSwitch, Thread: 2, CPU: 1, Stack: []int{3}})
	add(45e6, record.TraceEvent{Kind: record.TraceEnter, Thread: 3, Call: 3})
	add(60e6+long, record.TraceEvent{Kind: record.TraceLeave, Thread: 3, Call: 3})
	add(61e6+long, record.TraceEvent{Kind: record.TraceWake, Thread: 3, Other: 2})
	add(61e6+long, record.TraceEvent{Kind: record.TraceExit, Thread: 3})
	add(61e6+long, record.TraceEvent{Kind: record.TraceSwitch, Thread: 3})
	add(62e6+long, record.TraceEvent{Kind: record.TraceSwitch, Other: 2, CPU: 1, Runnable: true})
	add(62e6+long, record.TraceEvent{Kind: record.TraceLeave, Thread: 2, CPU: 1, Call: 1})
	add(70e6+long, record.TraceEvent{Kind: record.TraceWake, Thread: 2, Other: 1})
	add(71e6+long, record.TraceEvent{Kind: record.TraceSwitch, Other: 1, Runnable: true})
	add(71e6+long, record.TraceEvent{Kind: record.TraceLeave, Thread: 1, Call: 1})
	return t
}

func TestExplanation(t *testing.T) {
	var traces []*record.Trace
	var plain []int64
	for i := range int64(8) {
		traces = append(traces, followed((i*7%8-4)*1e6))
		plain = append(plain, 78e6+(i*7%8-4)*1e6)
	}
	traces[3].Tail.Lost = 3
	x, err := timeline.Explain(traces, plain)
	require.NoError(t, err)
	x.Shorten()
	for file, o := range map[string]Options{"explain.txt": {Width: 100}, "explain.60.txt": {Width: 60}, "explain.md": {}} {
		format := "text"
		if strings.HasSuffix(file, ".md") {
			format = "markdown"
		}
		var b bytes.Buffer
		require.NoError(t, Explanation.Write(&b, format, x, o))
		golden.Check(t, "testdata/"+file, b.String())
	}
	var b bytes.Buffer
	if err := Explanation.Write(&b, "folded", x, Options{}); err != nil || !strings.Contains(b.String(), "client run;daemon;runc create;in mount ") {
		t.Errorf("folded: %v\n%s", err, b.String())
	}
	b.Reset()
	var chrome struct {
		Events []map[string]any `json:"traceEvents"`
		Other  struct {
			Lost *int64 `json:"lost events"`
		} `json:"otherData"`
	}
	if err := Explanation.Write(&b, "chrome", x, Options{}); err != nil || json.Unmarshal(b.Bytes(), &chrome) != nil || len(chrome.Events) < 10 || chrome.Other.Lost == nil {
		t.Errorf("chrome: %v, %d events", err, len(chrome.Events))
	}
	if _, err := timeline.Explain(nil, nil); err == nil {
		t.Error("nothing is explained")
	}
}

// Two starts beside each other: what one has and the other has not, and the largest
// difference first.
func TestComparison(t *testing.T) {
	explain := func(long int64, change func(*record.Trace)) *timeline.Explanation {
		seen := followed(long)
		change(seen)
		x, err := timeline.Explain([]*record.Trace{seen}, nil)
		require.NoError(t, err)
		return x
	}
	a := explain(0, func(*record.Trace) {})
	b := explain(30e6, func(s *record.Trace) {
		s.What = "client run <y>"
		for i := range s.Events {
			if s.Events[i].Text == "runc create" {
				s.Events[i].Text = "crun create"
			}
		}
	})
	x := timeline.Against(a, b)
	if x.Tree.More() != 30e6 || x.Tree.A != a.Tree.NS || x.Tree.B != b.Tree.NS {
		t.Errorf("%d ns more, expected 30 ms: %+v", x.Tree.More(), x.Tree)
	}
	var b1 bytes.Buffer
	require.NoError(t, Comparison.Write(&b1, "text", x, Options{Width: 100}))
	golden.Check(t, "testdata/against.txt", b1.String())
	same := timeline.Against(a, a)
	b1.Reset()
	if err := Comparison.Write(&b1, "markdown", same, Options{}); err != nil || strings.Contains(b1.String(), "runc create") {
		t.Errorf("a start differs from itself: %v\n%s", err, b1.String())
	}
	b1.Reset()
	if err := Comparison.Write(&b1, "json", x, Options{}); err != nil || !json.Valid(b1.Bytes()) {
		t.Errorf("%v", err)
	}
}

// A table of rates has a line for each number at once, and says what there is none of.
func TestRates(t *testing.T) {
	x := &timeline.Rates{Starts: 3, Lacking: []string{"lxd can't be started here: LXD is not installed"}, Rows: []timeline.RateRow{
		{What: "docker", AtOnce: 1, PerSecond: 4.96, NS: 201.6e6, Times: 1, Overhead: 1.012, Most: []timeline.Waited{{Name: "page faults", NS: 40e6, Share: 0.2}, {Name: "in mount", NS: 4e6, Share: 0.02}}},
		{What: "docker", AtOnce: 16, PerSecond: 9.21, NS: 1502e6, Times: 7.45, Overhead: 1.04, Lost: 12, Most: []timeline.Waited{{Name: "waits for a processor", NS: 1000e6, Share: 0.77}, {Name: "waits for a lock <of> the kernel", NS: 100e6, Share: 0.08}}},
		{What: "docker", AtOnce: 64, Missing: "left out: a round would take 35s or so"},
	}}
	var b bytes.Buffer
	require.NoError(t, Rates.Write(&b, "text", x, Options{Width: 100}))
	golden.Check(t, "testdata/rates.txt", b.String())
	b.Reset()
	if err := Rates.Write(&b, "text", x, Options{Width: 70}); err != nil || strings.Contains(b.String(), "…") || !strings.Contains(strings.Join(strings.Fields(b.String()), " "), "77 % waits for a processor") {
		t.Errorf("where it is narrow it is cut: %v\n%s", err, b.String())
	}
	b.Reset()
	if err := Rates.Write(&b, "json", x, Options{}); err != nil || !json.Valid(b.Bytes()) {
		t.Errorf("%v", err)
	}
}
