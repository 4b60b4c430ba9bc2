package timeline

import (
	"math/rand/v2"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

// checkReplay: whatever the events, the course gone through again ends when it did. Of what
// is taken out at most as much is saved, and no less if more is taken out.
func checkReplay(t *testing.T, r *rand.Rand, c *Course) {
	t.Helper()
	again := c.replay()
	if by := again.without(nil); by != 0 {
		t.Fatalf("nothing taken out, the end comes %d earlier:\n%s", by, words(c))
	}
	for range 20 {
		var some, more []taking
		var all int64
		for i := range again.pieces {
			switch r.IntN(3) {
			case 0:
				some = append(some, taking{i, 1})
				all += again.pieces[i].Span()
				more = append(more, taking{i, 1})
			case 1:
				more = append(more, taking{i, r.Float64()})
			}
		}
		by, least := again.without(more), again.without(some)
		if least < 0 || least > all || by < least {
			t.Fatalf("of %d that are taken out %d are saved, and %d with more:\n%s", all, least, by, words(c))
		}
	}
}

// shorter is what the start of a step is shorter by without it, from a tree's root on, ns;
// -1 where nothing is said of it.
func shorter(t *testing.T, s *Step, path ...string) int64 {
	t.Helper()
	for _, name := range path {
		next := s.find(name, false)
		if next == nil {
			next = s.find(name, true)
		}
		if next == nil {
			t.Fatalf("there is no %q below\n%s", name, outline(s))
		}
		s = next
	}
	if s.Shorter == nil {
		return -1
	}
	return *s.Shorter
}

func explainOne(t *testing.T, s *tale) *Step {
	t.Helper()
	x, err := Explain([]*record.Trace{&s.Trace}, nil)
	require.NoError(t, err)
	x.Shorten()
	return x.Tree
}

// branches: a program has two others work at the same time, and then a third one.
//
//	asks at 10 ── long, until 210 ──┐
//	         └─── short, until 160 ─┴─ last, from 220 until 320
func branches(first, second int) *tale {
	until := map[int]int64{2: 210, 3: 160}
	s := newTale(400, 1, 1, 2, 3, 4)
	s.waits(2, -50, 1, 1, 10, 10)
	s.waits(3, -50, 1, 1, 10, 10)
	s.waits(4, -50, 1, 1, 220, 220)
	from := int64(20)
	for _, b := range []int{first, second} {
		if until[b] > from {
			s.waits(1, from, 1, b, until[b], until[b])
			from = until[b]
		}
	}
	s.waits(1, 230, 1, 4, 320, 320)
	for _, b := range []int{2, 3, 4} {
		s.add(record.TraceEvent{At: 390, Kind: record.TraceSwitch, Thread: b})
	}
	return s
}

// TestShorterBranches: what one of two branches takes is saved only as far as the other
// one ended earlier, and what all wait for is saved as a whole.
func TestShorterBranches(t *testing.T) {
	tree := explainOne(t, branches(3, 2))
	if long, short, last := shorter(t, tree, "t2"), shorter(t, tree, "t3"), shorter(t, tree, "t4"); long != 50 || short != 0 || last != 90 {
		t.Errorf("shorter by %d without the long one, %d without the short one, %d without the last, expected 50, 0 and 90:\n%s", long, short, last, outline(tree))
	}
	// What had ended before it was waited for is in no event: so much is saved at most.
	tree = explainOne(t, branches(2, 3))
	if long, last := shorter(t, tree, "t2"), shorter(t, tree, "t4"); long != 190 || last != 90 {
		t.Errorf("shorter by %d without the long one, %d without the last, expected 190 and 90:\n%s", long, last, outline(tree))
	}
	// Without a program of which both are, there is neither.
	s := branches(3, 2)
	s.Threads[1].Name, s.Threads[2].Name = "both", "both"
	tree = explainOne(t, s)
	if both := shorter(t, tree, "both"); both != 190 {
		t.Errorf("shorter by %d without both, expected 190:\n%s", both, outline(tree))
	}
	if whole := shorter(t, tree); whole != -1 {
		t.Errorf("the whole is shorter by %d without itself", whole)
	}
}

// TestShorterOneAfterTheOther: of what comes one after the other everything is saved, but
// what who asks still does while the one that was asked begins: 10 behind each of two questions.
func TestShorterOneAfterTheOther(t *testing.T) {
	tree := explainOne(t, known())
	for _, c := range []struct {
		want int64
		path []string
	}{
		{90, []string{"its own code"}},
		{10, []string{"waits for a processor"}},
		{880, []string{"t2"}},
		{285, []string{"t2", "its own code"}},
		{200, []string{"t2", "waits for something to be written to a pipe"}}, // on the disk, in truth
		{10, []string{"t2", "waits for a processor (fsync)"}},
		{15, []string{"t2", "waits for a processor"}},
		{370, []string{"t2", "runc create"}},
		{370, []string{"t2", "runc create", "its own code"}},
	} {
		if by := shorter(t, tree, c.path...); by != c.want {
			t.Errorf("without %q it is shorter by %d, expected %d:\n%s", c.path, by, c.want, outline(tree))
		}
	}
}

// TestShorterWithoutAPart: of what a program computed each part is saved by its share.
func TestShorterWithoutAPart(t *testing.T) {
	s := known()
	for i, text := range []string{"busy with a", "busy with a", "busy with a", "busy with b"} {
		s.add(record.TraceEvent{At: 600 + int64(i), Kind: record.TraceCode, Thread: 3, Text: text})
	}
	tree := explainOne(t, s)
	if a, b := shorter(t, tree, "t2", "runc create", "busy with a"), shorter(t, tree, "t2", "runc create", "busy with b"); a != 277 || b != 93 {
		t.Errorf("%d and %d of 370 are saved, expected 277 and 93:\n%s", a, b, outline(tree))
	}
}

// TestShorterWithoutAWait: a wait for a timer is as long whenever it begins, and without it
// the next begins at once. One for another thread ends when that one says so.
func TestShorterWithoutAWait(t *testing.T) {
	s := newTale(500, 1, 1, 2)
	s.waits(2, -10, 4, 0, 290, 290) // the other one works from 290 until 300
	s.waits(1, 100, 4, 0, 200, 200) // a timer
	s.waits(1, 220, 1, 2, 300, 300)
	s.add(record.TraceEvent{At: 480, Kind: record.TraceSwitch, Thread: 2})
	c := Read(&s.Trace)
	r := c.replay()
	var timer []taking
	for i, p := range r.pieces {
		if p.Interval != nil && p.Interval.State == Waiting && p.Thread == 1 && p.From == 100 {
			timer = append(timer, taking{i, 1})
		}
	}
	if by := r.without(timer); len(timer) != 1 || by != 0 {
		t.Errorf("without the timer's 100 it is shorter by %d, where another one ends its work at 300:\n%s", by, words(c))
	}
}

// TestShorterAmongThreads: a daemon's thread hears of its helper's answer while another
// of its threads, which a timer wakes, takes the work over. Without the helper's work the
// end comes as much earlier.
func TestShorterAmongThreads(t *testing.T) {
	s := newTale(1000, 1, 1, 2, 3, 5)
	s.Threads[2].Process = 2 // threads 2 and 3 are the daemon's
	s.Frames[0] = "do_epoll_wait"
	s.waits(3, -100, 1, 1, 50, 60)  // it takes the request
	s.waits(5, -90, 2, 3, 70, 75)   // and asks the helper,
	s.waits(2, -80, 1, 5, 700, 710) // which answers thread 2
	s.waits(3, 80, 1, 0, 720, 725)  // while a timer wakes thread 3
	s.waits(1, 60, 4, 3, 900, 910)
	for _, id := range []int{2, 3, 5} {
		s.add(record.TraceEvent{At: 950, Kind: record.TraceSwitch, Thread: id})
	}
	tree := explainOne(t, s)
	if by := shorter(t, tree, "t2", "t5"); by != 620 {
		t.Errorf("without the helper's 620 it is shorter by %d:\n%s", by, outline(tree))
	}
}

// TestShorterByAnotherThread: who asked sends by one thread and hears by another.
func TestShorterByAnotherThread(t *testing.T) {
	s := newTale(1000, 0, 1, 4, 2)
	s.Threads[1].Process = 1
	s.Askers = []int{1}
	s.waits(2, -100, 1, 1, 50, 60) // the daemon waits for a request of thread 1
	s.Events = append(s.Events, record.TraceEvent{At: 70, Kind: record.TraceSwitch, Thread: 1, CPU: 1})
	s.waits(4, -50, 1, 0, 300, 305) // a timer
	s.waits(4, 310, 1, 2, 900, 910) // the answer comes to thread 4
	s.Events = append(s.Events, record.TraceEvent{At: 950, Kind: record.TraceSwitch, Thread: 2, CPU: 2})
	tree := explainOne(t, s)
	if by := shorter(t, tree, "t2"); by != 850 {
		t.Errorf("without the daemon's 850 it is shorter by %d:\n%s", by, outline(tree))
	}
	for _, b := range tree.Steps {
		if b.Cause && b.NS >= 10 && shorter(t, b) != b.NS {
			t.Errorf("%s takes %d, and it is shorter by %d:\n%s", b.Name, b.NS, shorter(t, b), outline(tree))
		}
	}
}
