package timeline

import (
	"strings"
	"testing"

	"plimsoll/internal/record"
)

// TestPurpose: a program writes through to the disk twice. Until it runs again behind a
// wait, and where another takes its processor meanwhile, that is the call's time too; what
// it waits for a processor elsewhere is not.
func TestPurpose(t *testing.T) {
	s := newTale(1000, 1, 1)
	s.Calls = map[int]string{74: "fsync", 202: "futex"}
	s.Frames = []string{"schedule", "io_schedule", "blk_mq_get_tag", "jbd2_log_wait_commit", "vfs_fsync_range", "futex_do_wait"}
	stops := func(at int64, call int, runnable bool, stack ...int) {
		s.add(record.TraceEvent{At: at, Kind: record.TraceSwitch, Thread: 1, Call: call, Runnable: runnable, Stack: stack})
	}
	wakes := func(at int64) {
		s.Events = append(s.Events, record.TraceEvent{At: at, Kind: record.TraceWake, Thread: 999, Other: 1, Interrupt: true})
	}
	runs := func(at int64) {
		s.Events = append(s.Events, record.TraceEvent{At: at, Kind: record.TraceSwitch, Other: 1, CPU: 1, Runnable: true})
	}
	stops(100, 74, false, 0, 3, 4) // the stack says it
	wakes(150)
	runs(170)
	stops(200, 74, true) // another's turn, in the call
	runs(230)
	stops(300, 74, false, 0, 1, 2) // a stack that does not reach as far as the call
	wakes(340)
	runs(350)
	stops(400, 0, true) // another's turn, in its own code
	runs(405)
	stops(500, 202, true)
	runs(506)
	want := `t1 1000
  its own code 839 ?
  waits for the file system's journal on the disk (fsync) 50
  waits for a processor (fsync) 60
  waits for the disk (fsync) 40
  waits for a processor 11
`
	tree := Read(&s.Trace).Tree()
	if got := outline(tree); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// Where the processors are what is short, it is no matter what for.
	row := AloneRow(&Explanation{NS: 1000, Tree: tree})
	if n := row.Most[1]; n != (Waited{"waits for a processor", 71, 0.071}) {
		t.Errorf("%+v", row.Most)
	}
	more := &Step{Name: "t1", NS: 2000, Steps: []*Step{{Name: "waits for a processor (fsync)", Cause: true, NS: 1071}, {Name: "its own code", Cause: true, NS: 929}}}
	c := Against(&Explanation{NS: 1000, Tree: tree}, &Explanation{NS: 2000, Tree: more})
	c.RateOf(2, []int64{2000})
	if g := c.Rate.Growth; len(g) != 2 || g[0].Name != "waits for a processor" || g[0].More() != 1000 || strings.Contains(g[1].Name, "processor") {
		t.Errorf("%+v", g)
	}
}
