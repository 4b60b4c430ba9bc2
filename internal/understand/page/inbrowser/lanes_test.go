//go:build linux && !unit

package inbrowser_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/page"
	"plimsoll/internal/understand/page/browsertest"
	"plimsoll/internal/understand/timeline"
)

// hostileName would be markup, if a page let it.
const hostileName = `client </script><script>document.title="x"</script>`

// course is a client that asks a daemon, which waits for the disk.
func course(t testing.TB) *timeline.Explanation {
	t.Helper()
	tr := &record.Trace{TraceHead: record.TraceHead{
		What: hostileName, Until: "exit", To: 80e6, Waiter: 1,
		Threads: []record.TraceThread{{ID: 1, Process: 1, Name: "client", Command: hostileName}, {ID: 2, Process: 2, Name: "daemon", Command: "daemon"}},
		Calls:   map[int]string{1: "read", 2: "fsync"},
		Frames:  []string{"unix_stream_read_generic", "jbd2_log_wait_commit", "vfs_fsync_range"},
	}, Tail: &record.TraceTail{}}
	add := func(at int64, e record.TraceEvent) {
		e.At = at
		tr.Events = append(tr.Events, e)
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
	add(70e6, record.TraceEvent{Kind: record.TraceWake, Thread: 2, Other: 1})
	add(71e6, record.TraceEvent{Kind: record.TraceSwitch, Other: 1, Runnable: true})
	add(71e6, record.TraceEvent{Kind: record.TraceLeave, Thread: 1, Call: 1})
	x, err := timeline.Explain([]*record.Trace{tr}, nil)
	require.NoError(t, err)
	return x
}

func lanesFile(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lanes.html")
	f := must(os.Create(path))(t)
	require.NoError(t, errors.Join(page.WriteLanes(f, course(t)), f.Close()))
	return path
}

// The lanes as a reader has them: drawn, zoomed, walked along by the keyboard, and
// read as a table without a script.
func TestLanes(t *testing.T) {
	b := browsertest.Begin(t)
	path := lanesFile(t)
	p := must(b.Open(path, browsertest.Options{}))(t)
	defer p.Close()
	require.NoError(t, p.Wait("window.plimsollLanes && plimsollLanes.drawn > 0"))
	span := func() float64 { return must(browsertest.Eval[float64](p, "plimsollLanes.to - plimsollLanes.from"))(t) }
	if look := must(p.Look("#canvas"))(t); !look.Drawn() || span() != 80e6 {
		t.Errorf("nothing is drawn of %g ns: %+v", span(), look)
	}
	if err := p.Click("#in"); err != nil || span() != 40e6 {
		t.Errorf("zoomed in: %g ns, %v", span(), err)
	}
	if err := errors.Join(p.Click("#all"), p.Click("#lanes")); err != nil || span() != 80e6 {
		t.Errorf("all: %g ns, %v", span(), err)
	}
	if got := must(browsertest.Eval[int](p, "JSON.parse(document.getElementById('data').textContent).threads.length"))(t); got != 2 {
		t.Errorf("%d threads are on the way", got)
	}
	must(browsertest.Eval[int](p, "plimsollLanes.picked = -1"))(t)
	seen := ""
	for range 12 {
		must(browsertest.Eval[bool](p, "document.getElementById('lanes').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}))"))(t)
		seen += must(browsertest.Eval[string](p, "document.getElementById('said').textContent"))(t) + "\n"
	}
	for _, want := range []string{"daemon: ", "journal on the disk (fsync), 25.00 ms from 10.00 ms on", "jbd2_log_wait_commit ← vfs_fsync_range"} {
		if !strings.Contains(seen, want) {
			t.Errorf("going along the way does not say %q: %s", want, seen)
		}
	}
	if dir := os.Getenv("PLIMSOLL_LOOK"); dir != "" { // to look at it
		try(t, os.WriteFile(filepath.Join(dir, "lanes.png"), must(p.Picture("main"))(t), 0o600))
	}
	if title := must(browsertest.Eval[string](p, "document.title"))(t); title == "x" || !strings.Contains(title, "</script>") {
		t.Errorf("the title is %q", title)
	}
	browsertest.Accessible(t, p)
	if wider, err := p.Wider(); err != nil || len(wider) > 0 {
		t.Errorf("wider than the page: %v %v", wider, err)
	}
	if problems, err := p.Problems(); err != nil || len(problems) > 0 {
		t.Errorf("the page has problems: %v %v", problems, err)
	}
	q := must(b.Open(path, browsertest.Options{NoScript: true, Width: 390, Height: 844}))(t)
	defer q.Close()
	if wider, err := q.Wider(); err != nil || len(wider) > 0 {
		t.Errorf("wider than a phone: %v %v", wider, err)
	}
}
