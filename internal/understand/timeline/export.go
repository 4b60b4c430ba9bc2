package timeline

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// WriteFolded writes a tree as folded stacks, a line for each leaf with its
// nanoseconds: what flame graphs are drawn from
// (https://github.com/brendangregg/FlameGraph).
func WriteFolded(w io.Writer, s *Step) error {
	b := bufio.NewWriter(w)
	var walk func(*Step, string)
	walk = func(s *Step, above string) {
		path := above + strings.NewReplacer(";", ",", "\n", " ").Replace(s.Name)
		if s.Cause {
			fmt.Fprintf(b, "%s %d\n", path, s.NS)
		}
		for _, x := range s.Steps {
			walk(x, path+";")
		}
	}
	walk(s, "")
	return b.Flush()
}

// chromeEvent is an event of the Trace Event Format, which Perfetto and Chrome show.
type chromeEvent struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"`
	At    float64        `json:"ts"` // µs
	Long  float64        `json:"dur,omitempty"`
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	Args  map[string]any `json:"args,omitempty"`
}

// ofSpans is the process that the engine's own spans stand at: higher than any is.
const ofSpans = 1 << 22

// WriteChrome writes a course in the Trace Event Format: a lane for each thread
// that is on the way, one for the way itself, and those of the engine's own spans.
func WriteChrome(w io.Writer, c *Course) error {
	events := []chromeEvent{
		{Name: "process_name", Phase: "M", Args: map[string]any{"name": "the way from the request to the end"}},
	}
	on := map[int]bool{}
	for _, p := range c.Path() {
		on[p.Thread] = true
		events = append(events, chromeEvent{
			Name: c.name(p.Thread, p.From) + ": " + p.why().Text, Phase: "X",
			At: float64(p.From) / 1e3, Long: float64(p.Span()) / 1e3,
		})
	}
	for _, id := range slices.Sorted(maps.Keys(on)) {
		t := c.Threads[id]
		if t == nil {
			continue
		}
		process := max(t.Process, 1)
		events = append(events,
			chromeEvent{Name: "process_name", Phase: "M", PID: process, Args: map[string]any{"name": t.Name(c.Span)}},
			chromeEvent{Name: "thread_name", Phase: "M", PID: process, TID: id, Args: map[string]any{"name": fmt.Sprint(t.Name(c.Span), " ", id)}})
		for i := range t.Intervals {
			in := &t.Intervals[i]
			from, to := max(in.From, 0), min(in.To, c.Span)
			if to <= from {
				continue
			}
			p := Piece{From: from, To: to, Thread: id, Interval: in}
			e := chromeEvent{Name: p.why().Text, Phase: "X", At: float64(from) / 1e3, Long: float64(to-from) / 1e3, PID: process, TID: id}
			if in.State == Waiting && len(in.Stack) > 0 {
				e.Args = map[string]any{"kernel": in.Stack, "woken by": in.Waker}
			}
			events = append(events, e)
		}
	}
	for i, row := range c.spanRows() {
		if i == 0 {
			events = append(events, chromeEvent{Name: "process_name", Phase: "M", PID: ofSpans, Args: map[string]any{"name": "the engine's own spans"}})
		}
		events = append(events, chromeEvent{Name: "thread_name", Phase: "M", PID: ofSpans, TID: i + 1, Args: map[string]any{"name": row[0].Service}})
		for _, s := range row {
			events = append(events, chromeEvent{Name: s.Name, Phase: "X", At: float64(s.From) / 1e3, Long: float64(s.To-s.From) / 1e3, PID: ofSpans, TID: i + 1,
				Args: map[string]any{"service": s.Service, "trace": fmt.Sprintf("%x", s.Trace), "failed": s.Failed}})
		}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(map[string]any{"traceEvents": events, "displayTimeUnit": "ms", "otherData": map[string]any{"lost events": c.Lost}})
}
