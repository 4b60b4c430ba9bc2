package record

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

func someTrace() *Trace {
	return &Trace{
		TraceHead: TraceHead{
			Version: traceVersion, What: "docker", From: 1000, To: 2000, Until: "ready", Askers: []int{4, 5},
			Threads: []TraceThread{{ID: 4, Process: 4, Name: "plimsoll", Command: "plimsoll"}, {ID: 2, Process: 2, Name: "kthreadd", Kernel: true}},
			Calls:   map[int]string{0: "read"}, Frames: []string{"pipe_read"},
		},
		Events: []TraceEvent{
			{At: -5, CPU: 1, Kind: TraceSwitch, Thread: 4, Other: 7, Stack: []int{0}},
			{At: 10, Kind: TraceWake, Thread: 9, Other: 4, Interrupt: true, Soft: true},
			{At: 11, Kind: TraceSwitch, Other: 4, Runnable: true},
			{At: 12, Kind: TraceExec, Thread: 4, Process: 4, Text: "runc \"create\"\n"},
		},
		Tail: &TraceTail{Lost: 3},
	}
}

func TestTraceRoundTrip(t *testing.T) {
	want := someTrace()
	var b bytes.Buffer
	require.NoError(t, WriteTrace(&b, want))
	got, err := ReadTrace(bytes.NewReader(b.Bytes()), "t")
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	// A kill cuts the last line off.
	torn := b.Bytes()[:b.Len()-4]
	want.Tail = nil
	if got, err := ReadTrace(bytes.NewReader(torn), "t"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("cut off: %+v, %v", got, err)
	}
	head, rest, _ := strings.Cut(b.String(), "\n")
	for _, c := range []struct{ text, says string }{
		{"", "the head of a trace is missing"},
		{"{}\n", "not the head of a trace"},
		{strings.Replace(head, `"trace":1`, `"trace":99`, 1) + "\n", "a newer one can read it"},
		{strings.Replace(head, `"to":2000`, `"to":1`, 1) + "\n", "ends before it begins"},
		{head + "\n{\"k\":\"switch\",\"f\":[7]}\n" + rest, "function 7 of 1"},
		{head + "\nnonsense\n" + rest, "t"},
	} {
		_, err := ReadTrace(strings.NewReader(c.text), "t")
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%.40q: %v, expected %q", c.text, err, c.says)
		}
	}
	var damage *DamageError
	if _, err := ReadTrace(strings.NewReader(head+"\nnonsense\n"+rest), "t"); !errors.As(err, &damage) || damage.Line != 2 {
		t.Errorf("damage: %v", err)
	}
}

// FuzzReadTrace: nothing that could stand in a file makes reading it fail otherwise
// than by an error.
func FuzzReadTrace(f *testing.F) {
	var b bytes.Buffer
	require.NoError(f, WriteTrace(&b, someTrace()))
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		tr, err := ReadTrace(bytes.NewReader(data), "t")
		if err == nil && tr.To < tr.From {
			t.Error("it ends before it begins")
		}
	})
}
