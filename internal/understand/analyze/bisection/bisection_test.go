package bisection

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/common/stats"
)

// seen is a machine that scatters little: what it says is so.
func seen(logs []float64, broken ...int) *machine {
	m := &machine{r: rand.New(rand.NewPCG(1, uint64(len(logs)))), logs: logs, broken: map[int]bool{}, noise: 0.005}
	for _, c := range broken {
		m.broken[c] = true
	}
	return m
}

// line is a range without a merge.
func line(n int) *Range {
	parents := make([][]int, n)
	for c := 1; c < n; c++ {
		parents[c] = []int{c - 1}
	}
	r, err := NewRange(parents)
	if err != nil {
		panic(err)
	}
	return r
}

// stepAt is a history that is slower from a commit on.
func stepAt(commits int, at ...int) []float64 {
	logs := make([]float64, commits)
	for c := range logs {
		for _, a := range at {
			if c >= a {
				logs[c] += 0.1
			}
		}
	}
	return logs
}

func upTo(from, to int) (out []int) {
	for c := from; c <= to; c++ {
		out = append(out, c)
	}
	return out
}

// TestOutcomes: each case ends as it is defined.
func TestOutcomes(t *testing.T) {
	hidden := stepAt(40, 10)
	for c := 30; c < 40; c++ {
		hidden[c] = 0
	}
	faster := stepAt(8, 3)
	for c := range faster {
		faster[c] = -faster[c]
	}
	merged, err := NewRange([][]int{nil, {0}, {0}, {2}, {1, 3}, {4}})
	require.NoError(t, err)
	for _, c := range []struct {
		name    string
		m       *machine
		r       *Range
		want    Result
		commits []int
		check   func(o Outcome, m *machine) bool
	}{
		{"each of a few", seen(stepAt(5, 3)), nil, Found, []int{3}, func(o Outcome, _ *machine) bool {
			return o.Before == 2 && o.Pair.Verdict == Worse && *o.Pair.Change.Lo < math.Exp(0.1) && *o.Pair.Change.Hi > math.Exp(0.1) && !o.Pair.More
		}},
		{"the first", seen(stepAt(9, 0)), nil, Found, []int{0}, func(o Outcome, _ *machine) bool { return o.Before == GoodEnd }},
		{"the last", seen(stepAt(9, 8)), nil, Found, []int{8}, nil},
		{"the only one", seen(stepAt(1, 0)), nil, Found, []int{0}, func(_ Outcome, m *machine) bool { return m.asked == 2 }},
		{"no difference", seen(make([]float64, 16)), nil, Alike, nil, func(o Outcome, m *machine) bool {
			return m.asked == 1 && o.Ends.Finds != nil && *o.Ends.Finds < 0.01
		}},
		{"hidden by a later improvement", seen(hidden), nil, Alike, nil, nil},
		{"faster", seen(faster), nil, Backwards, nil, nil},
		{"one of two steps", seen(stepAt(30, 9, 20, 20)), nil, Found, []int{20}, func(o Outcome, _ *machine) bool { return o.Pair.More }},
		{"broken beside the step", seen(stepAt(20, 12), 11, 12, 13), nil, Among, []int{11, 12, 13, 14}, func(o Outcome, _ *machine) bool {
			return reflect.DeepEqual(o.Untested, []int{11, 12, 13}) && o.Before == 10
		}},
		{"all but the ends broken", seen(stepAt(6, 4), 0, 1, 2, 3, 4), nil, Among, upTo(0, 5), nil},
		{"a broken stretch in the middle is left fast", seen(stepAt(200, 20), upTo(80, 119)...), nil, Found, []int{20}, func(o Outcome, m *machine) bool {
			return len(o.Untested) <= 7 && m.asked <= 20
		}},
		{"on a side branch", seen([]float64{0, 0, 0.1, 0.1, 0.1, 0.1}), merged, Found, []int{2}, nil},
		{"by the merge itself", seen([]float64{0, 0, 0, 0, 0.1, 0.1}), merged, Found, []int{4}, func(o Outcome, _ *machine) bool { return o.Before == 3 }},
		{"the machine sees it no more", &machine{r: rand.New(rand.NewPCG(3, 3)), logs: stepAt(50, 7), noise: 0.005, blindFrom: 3}, nil, Blind, nil, func(_ Outcome, m *machine) bool { return m.asked == 3 }},
	} {
		r := c.r
		if r == nil {
			r = line(len(c.m.logs))
		}
		o := c.m.run(r)
		if o.Result != c.want || c.commits != nil && !reflect.DeepEqual(o.Commits, c.commits) || c.check != nil && !c.check(o, c.m) {
			t.Errorf("%s: %+v after %d measurements; pair %+v", c.name, o, c.m.asked, o.Pair)
		}
	}
}

// TestHalves: a commit in the middle between the ends is measured as long as allowed,
// and both sides are named.
func TestHalves(t *testing.T) {
	logs := make([]float64, 9)
	for c := range logs {
		if c >= 2 {
			logs[c] += 0.05
		}
		if c >= 6 {
			logs[c] += 0.05
		}
	}
	m := seen(logs)
	o := m.run(line(9))
	if o.Result != Halves || len(o.Commits)+len(o.Later) != 9 || !slices.Contains(o.Commits, 2) || !slices.Contains(o.Later, 6) || m.blocks < MostBlocks {
		t.Errorf("%+v, %d blocks", o, m.blocks)
	}
}

// TestNoDifference: ends that are the same are told apart no more often than the level
// of that one decision allows.
func TestNoDifference(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for seconds: left out with -short")
	}
	const runs = 600
	apart := 0
	for i := range runs {
		m := &machine{r: rand.New(rand.NewPCG(20, uint64(i))), logs: make([]float64, 1), noise: 0.03}
		if m.answer(Question{Kind: Ends, Test: Test{Alpha: 0.025}}).Verdict == Worse {
			apart++
		}
	}
	if bound := stats.Wilson(apart, runs, 0.9).Lo; bound > 0.025 {
		t.Errorf("%d of %d ends that are the same are said to differ", apart, runs)
	}
}

// TestSpends: whatever comes, no more than the whole chance is spent.
func TestSpends(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 5))
		s := New(line(1+r.IntN(300)), 0.05)
		spent := 0.0
		for {
			q, more := s.Next()
			if !more {
				break
			}
			f := Finding{Verdict: []Verdict{AsGood, AsBad, Skipped}[r.IntN(3)], Blocks: 12}
			switch q.Kind {
			case Ends:
				f.Verdict = Worse
			case Pair:
				f.Verdict = Worse
			}
			if q.Kind != Pair && f.Verdict != Skipped {
				spent += q.Test.Alpha
			}
			if q.Test.Alpha <= 0 {
				t.Fatalf("seed %d: nothing is left for %+v", seed, q)
			}
			s.Answer(q, f)
		}
		if spent > 0.05+1e-12 {
			t.Errorf("seed %d: %g was spent", seed, spent)
		}
	}
}

// TestReplay: the answers that there were lead to the same question, so that a search
// that was cut off goes on.
func TestReplay(t *testing.T) {
	m := seen(stepAt(60, 41), 30, 44)
	var qs []Question
	var fs []Finding
	whole := New(line(60), 0.05)
	for {
		q, more := whole.Next()
		if !more {
			break
		}
		again := New(line(60), 0.05)
		for i := range qs {
			if x, _ := again.Next(); x != qs[i] {
				t.Fatalf("asked %+v, not %+v", x, qs[i])
			}
			again.Answer(qs[i], fs[i])
		}
		if x, _ := again.Next(); x != q {
			t.Fatalf("asked %+v, not %+v", x, q)
		}
		f := m.answer(q)
		qs, fs = append(qs, q), append(fs, f)
		whole.Answer(q, f)
	}
	if len(qs) < 6 {
		t.Errorf("%d questions", len(qs))
	}
}

// TestMissing: blocks that lack a value of one are left out, and a metric of which
// more is better is turned.
func TestMissing(t *testing.T) {
	v := Values{Higher: true}
	for i := range 24 {
		block := float64(100 + i)
		v.Good, v.Bad, v.Commit, v.Before = append(v.Good, block), append(v.Bad, 0.9*block), append(v.Commit, 0.9*block), append(v.Before, block)
		if i%6 == 0 {
			v.Commit[i] = math.NaN()
		}
	}
	f := Test{Alpha: 0.01}.Look(Candidate, v, true)
	if f.Verdict != AsBad || f.Blocks != 20 || math.Abs(f.Ends.Value-0.9) > 1e-9 || math.Abs(f.Change.Value-0.9) > 1e-9 {
		t.Errorf("%+v", f)
	}
	if f := (Test{Alpha: 0.01}).Look(Pair, v, true); f.Verdict != Worse || f.More || !f.Exact() {
		t.Errorf("%+v", f)
	}
	if f := (Test{Alpha: 0.01}).Look(Ends, Values{}, true); f.Verdict != Unclear || f.Ends != nil {
		t.Errorf("%+v", f)
	}
}

// TestRange: what is no range is refused.
func TestRange(t *testing.T) {
	for _, parents := range [][][]int{nil, {{0}}, {{1}, nil}, make([][]int, MostCommits+1)} {
		if _, err := NewRange(parents); err == nil {
			t.Errorf("%d commits were taken", len(parents))
		}
	}
}
