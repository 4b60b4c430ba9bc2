package trace

import (
	"testing"

	"plimsoll/internal/record"
)

// TestLateCommandLine: what a process is called is read from it after it has executed a
// program. Where it has executed another one by then, it is not called by that.
func TestLateCommandLine(t *testing.T) {
	const ms = int64(1e6)
	g := &gathering{recorder: &Recorder{}, commands: map[heard]line{}, owners: map[int]int{}}
	for _, c := range []struct {
		pid      int
		at, read int64
		file     string
		line     string
	}{
		{7, 10 * ms, 11 * ms, "wrapper", "wrapper create"}, // in time
		{7, 30 * ms, 31 * ms, "runc", "runc create"},
		{8, 10 * ms, 31 * ms, "wrapper", "runc create"}, // late
		{8, 30 * ms, 32 * ms, "runc", "runc create"},
		{9, 10 * ms, 29 * ms, "wrapper", "runc create"}, // while the next one is being executed
		{9, 30 * ms, 32 * ms, "runc", "runc create"},
		{10, 10 * ms, 31 * ms, "sh", "busybox true"}, // called otherwise than its file, and nothing follows
		{11, 10 * ms, 31 * ms, "runc", "runc init"},  // which of the two?
		{11, 30 * ms, 32 * ms, "runc", "runc init"},
		{12, 10 * ms, 11 * ms, "crun", "crun create"}, // in time, before a program of the same name
		{12, 50 * ms, 51 * ms, "crun", "crun create"},
	} {
		g.events = append(g.events, record.TraceEvent{At: c.at, Kind: record.TraceExec, Thread: c.pid, Text: c.file})
		g.commands[heard{c.pid, c.at + 1000}] = line{c.line, c.read}
	}
	want := []string{"wrapper create", "runc create", "wrapper", "runc create", "wrapper", "runc create", "busybox true", "runc", "runc init", "crun create", "crun create"}
	for i, e := range g.trace(record.TraceHead{}, nil).Events {
		if e.Text != want[i] {
			t.Errorf("process %d is called %q at %d ms, want %q", e.Thread, e.Text, e.At/ms, want[i])
		}
	}
}
