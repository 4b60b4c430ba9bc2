package bisection

import "testing"

// TestSizes: one look decides, by the nearer end, and says what is not all of the ends'
// difference.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		kind    Kind
		sizes   Sizes
		verdict Verdict
		change  float64
		more    bool
	}{
		{Ends, Sizes{Good: 1000, Bad: 1001}, Worse, 0, false},
		{Ends, Sizes{Good: 1000, Bad: 999}, Better, 0, false},
		{Ends, Sizes{Good: 1000, Bad: 1000}, Unclear, 0, false},
		{Candidate, Sizes{Good: 1000, Bad: 2000, Commit: 1499}, AsGood, 1.499, false},
		{Candidate, Sizes{Good: 1000, Bad: 2000, Commit: 1500}, AsBad, 1.5, false},
		{Candidate, Sizes{Good: 1000, Bad: 2000, Commit: 500}, AsGood, 0.5, false},
		{Candidate, Sizes{Good: 1000, Bad: 2000, Commit: 4000}, AsBad, 4, false},
		{Candidate, Sizes{Good: 1000, Bad: 1000, Commit: 1000}, Unseen, 1, false},
		{Pair, Sizes{Good: 1000, Bad: 2000, Before: 1000, Commit: 2000}, Worse, 2, false},
		{Pair, Sizes{Good: 1000, Bad: 2000, Before: 1000, Commit: 1600}, Worse, 1.6, true},
		{Pair, Sizes{Good: 1000, Bad: 2000, Before: 1250, Commit: 2500}, Worse, 2, false},
	} {
		f := c.sizes.Look(c.kind)
		change := 0.0
		if f.Change != nil {
			change = f.Change.Value
		}
		if f.Verdict != c.verdict || change != c.change || f.More != c.more || f.Blocks != 0 || *f.Bytes != c.sizes {
			t.Errorf("%s %+v: %+v, change %v", c.kind, c.sizes, f, change)
		}
	}
}

// TestSizesSearch: a search by sizes spends no chance on its steps, and its last pair is no
// contradiction, though its change has no interval.
func TestSizesSearch(t *testing.T) {
	sizes := func(c int) int64 {
		if c >= 40 {
			return 50_000 + int64(c)
		}
		return 45_000 + int64(c)
	}
	s := New(line(100), 0.05)
	asked := 0
	for {
		q, more := s.Next()
		if !more {
			break
		}
		asked++
		of := Sizes{Good: sizes(GoodEnd), Bad: sizes(99)}
		if q.Kind != Ends {
			of.Commit = sizes(q.Commit)
		}
		if q.Kind == Pair {
			of.Before = sizes(q.Before)
		}
		s.Answer(q, of.Look(q.Kind))
	}
	o := s.Outcome()
	if o.Result != Found || len(o.Commits) != 1 || o.Commits[0] != 40 || o.Before != 39 || !o.Pair.More || asked > 9 {
		t.Errorf("%+v after %d questions", o, asked)
	}
	if o.Pair.Bytes.Commit-o.Pair.Bytes.Before != 5001 {
		t.Errorf("the step: %+v", o.Pair.Bytes)
	}
}

// A build that isn't reproducible may come out otherwise when it is made anew: a pair
// that is no larger is no step, and is not said to be one.
func TestSizeThatWasNone(t *testing.T) {
	s := New(line(2), 0.05)
	for {
		q, more := s.Next()
		if !more {
			break
		}
		of := Sizes{Good: 100, Bad: 200, Commit: 200}
		if q.Kind == Pair {
			of.Before, of.Commit = 200, 188
		}
		s.Answer(q, of.Look(q.Kind))
	}
	if o := s.Outcome(); o.Result != Contradicted {
		t.Errorf("%+v", o)
	}
}
