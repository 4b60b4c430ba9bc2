package timeline

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

// ofCRIO are spans: a call that has two parts, the second of which ends after the start.
func ofCRIO(id byte, from, to int64, name string, parent byte) record.TraceSpan {
	s := record.TraceSpan{Trace: [16]byte{1}, ID: [8]byte{id}, Name: name, Service: "crio", From: from, To: to}
	s.Parent[0] = parent
	return s
}

// TestOwn: spans of a name are one row below those that they are part of, in the mean of
// the starts, beside what lay on the way while they lasted.
func TestOwn(t *testing.T) {
	var traces []*record.Trace
	for range 3 {
		s := newTale(100, 1, 1, 2)
		s.waits(1, 10, 1, 2, 70, 71)
		s.Spans = []record.TraceSpan{ofCRIO(1, 10, 70, "Run", 9), ofCRIO(2, 20, 30, "part", 1), ofCRIO(3, 40, 50, "part", 1), ofCRIO(4, 60, 130, "late", 1), ofCRIO(5, 61, 62, "itself", 5)}
		traces = append(traces, &s.Trace)
	}
	x, err := Explain(traces, nil)
	require.NoError(t, err)
	x.Own(&OwnSpans{How: "it is on"})
	rows := x.Spans.Rows
	if len(rows) != 3 || x.Spans.Came != 5*x.Used {
		t.Fatalf("%d rows, %d came of %d starts", len(rows), x.Spans.Came, x.Used)
	}
	run, part, late := rows[0], rows[1], rows[2]
	if run.Name != "Run" || run.Depth != 0 || run.NS != 60 || run.FirstNS != 10 || run.Starts != x.Used || run.Times != 1 {
		t.Errorf("%+v", run)
	}
	if part.Depth != 1 || part.NS != 20 || part.Times != 2 || part.FirstNS != 20 {
		t.Errorf("%+v", part)
	}
	if late.NS != 70 || late.InsideNS != 40 || math.Abs(late.Share-0.4) > 1e-9 {
		t.Errorf("%+v", late)
	}
	var sum float64
	for _, p := range run.Path {
		sum += p.Share
	}
	if math.Abs(sum-1) > 1e-9 || run.Path[0].Program != "t2" {
		t.Errorf("the way has no gap, and is %v of the span: %+v", sum, run.Path)
	}
	var b bytes.Buffer
	require.NoError(t, WriteChrome(&b, x.Median))
	var drawn struct {
		TraceEvents []struct {
			Name string
			PID  int
			TID  int
		}
	}
	require.NoError(t, json.Unmarshal(b.Bytes(), &drawn))
	tids := map[string]int{}
	for _, e := range drawn.TraceEvents {
		if e.PID == ofSpans {
			tids[e.Name] = e.TID
		}
	}
	// What overlaps without lying within the other has a row of its own.
	if tids["Run"] != 1 || tids["part"] != 1 || tids["late"] != 2 {
		t.Errorf("rows: %v", tids)
	}
}

// TestOwnHostile: a chain without end, a ring and too many names end.
func TestOwnHostile(t *testing.T) {
	s := newTale(100, 1, 1)
	for i := range 5000 {
		x := record.TraceSpan{Name: strings.Repeat("n", i%7) + string(rune('a'+i%300)), From: int64(i % 90), To: int64(i%90 + 5)}
		x.ID[0], x.ID[1], x.ID[2] = byte(i), byte(i>>8), 1
		if i > 0 && i%3 > 0 {
			x.Parent[0], x.Parent[1], x.Parent[2] = byte(i-1), byte((i-1)>>8), 1
		}
		s.Spans = append(s.Spans, x)
	}
	ring := func(id, parent byte) record.TraceSpan { return ofCRIO(id, 1, 2, "ring", parent) }
	s.Spans = append(s.Spans, ring(1, 2), ring(2, 1))
	x, err := Explain([]*record.Trace{&s.Trace}, nil)
	require.NoError(t, err)
	x.Own(&OwnSpans{})
	if n := len(x.Spans.Rows); n == 0 || n > mostRows {
		t.Errorf("%d rows", n)
	}
}
