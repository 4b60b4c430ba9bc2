package timeline

import (
	"fmt"
	"strings"
	"testing"

	"plimsoll/internal/record"
)

func outline(s *Step) string {
	var b strings.Builder
	var walk func(*Step, int)
	walk = func(s *Step, depth int) {
		mark := ""
		if s.Unexplained {
			mark = " ?"
		}
		fmt.Fprintf(&b, "%s%s %d%s\n", strings.Repeat("  ", depth), s.Name, s.NS, mark)
		for _, x := range s.Steps {
			walk(x, depth+1)
		}
	}
	walk(s, 0)
	return b.String()
}

// TestTreeAddsUp: each step is the sum of those below it, and the root the span.
func TestTreeAddsUp(t *testing.T) {
	tree := Read(&known().Trace).Tree()
	if tree.NS != 1000 {
		t.Errorf("the root has %d of 1000", tree.NS)
	}
	var walk func(*Step)
	walk = func(s *Step) {
		sum := int64(0)
		for _, x := range s.Steps {
			sum += x.NS
			walk(x)
		}
		if s.Cause != (len(s.Steps) == 0) || !s.Cause && sum != s.NS {
			t.Errorf("%s: %d, those below it %d", s.Name, s.NS, sum)
		}
	}
	walk(tree)
	// Before it executes its program a child has its parent's name.
	want := `t1 1000
  its own code 100 ?
  t2 890
    its own code 295 ?
    waits for something to be written to a pipe 200 ?
    waits for a processor (fsync) 10
    waits for a processor 15
    runc create 370
      its own code 370 ?
  waits for a processor 10
`
	if got := outline(tree); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestMeanOfTheMiddle: a wild start does not count, and steps still add up.
func TestMeanOfTheMiddle(t *testing.T) {
	var trees []*Step
	for _, ns := range []int64{100, 110, 90, 5000, 105, 95, 100, 1} {
		trees = append(trees, &Step{Name: "a", NS: ns, Steps: []*Step{{Name: "x", Cause: true, NS: ns / 2}, {Name: "y", NS: ns - ns/2, Steps: []*Step{{Name: "z", Cause: true, NS: ns - ns/2}}}}})
	}
	m, n := mean(trees)
	if n != 4 || m.NS < 98 || m.NS > 100 || m.Steps[0].NS+m.Steps[1].NS != m.NS {
		t.Errorf("over %d starts:\n%s", n, outline(m))
	}
}

// TestOwnCode: what a program computed is divided by what the clock found it at, and
// where it never looked by what it found of the program anywhere.
func TestOwnCode(t *testing.T) {
	s := known()
	tick := func(thread int, text string, at ...int64) {
		for _, a := range at {
			s.add(record.TraceEvent{At: a, Kind: record.TraceCode, Thread: thread, Text: text})
		}
	}
	tick(2, "busy with package json", 70, 90, 110)
	tick(2, "", 150)
	tick(2, "busy with package late", 980) // not on the way
	tick(3, "busy with libc.so.6", 600)
	tree := Read(&s.Trace).Tree()
	want := `t1 1000
  its own code 100 ?
  t2 890
    waits for something to be written to a pipe 200 ?
    waits for a processor (fsync) 10
    waits for a processor 15
    runc create 370
      busy with libc.so.6 370
    its own code 73 ?
    busy with package json 222
  waits for a processor 10
`
	if got := outline(tree); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
