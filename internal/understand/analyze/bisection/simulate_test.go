package bisection

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"plimsoll/internal/common/stats"
)

// machine measures commits in simulated times: what each takes, and on what machine.
type machine struct {
	r *rand.Rand
	// logs is the log of each commit's time over the good end's; broken can't be built
	// or don't run.
	logs   []float64
	broken map[int]bool
	noise  float64 // of a trial
	// blindFrom is from how many questions on all take the same; 0: never.
	blindFrom, asked int
	blocks           int // that were measured, in all
}

// log is that of a commit or an end.
func (m *machine) log(c int) float64 {
	if c == GoodEnd || m.blindFrom > 0 && m.asked >= m.blindFrom {
		return 0
	}
	return m.logs[c]
}

// value is a trial in a block: one in twenty is far out.
func (m *machine) value(block, log float64) float64 {
	v := block + log + m.noise*m.r.NormFloat64()
	if m.r.Float64() < 0.05 {
		v += 0.3 * m.r.ExpFloat64()
	}
	return 25e6 * math.Exp(v)
}

// answer measures block by block, and looks as often as the rule has it.
func (m *machine) answer(q Question) Finding {
	m.asked++
	if q.Kind == Candidate && m.broken[q.Commit] {
		return Finding{Verdict: Skipped}
	}
	var v Values
	speed, last := 0.05*m.r.NormFloat64(), len(m.logs)-1
	for n := 1; ; n++ {
		speed += 0.01 * m.r.NormFloat64() // the machine drifts
		block := speed + 0.05*m.r.NormFloat64()
		v.Good = append(v.Good, m.value(block, m.log(GoodEnd)))
		v.Bad = append(v.Bad, m.value(block, m.log(last)))
		if q.Kind != Ends {
			v.Commit = append(v.Commit, m.value(block, m.log(q.Commit)))
		}
		if q.Kind == Pair {
			v.Before = append(v.Before, m.value(block, m.log(q.Before)))
		}
		if !slices.Contains(Looks, n) {
			continue
		}
		if f := q.Test.Look(q.Kind, v, n == MostBlocks); f.Decided(q.Kind) || n == MostBlocks {
			m.blocks += n
			return f
		}
	}
}

// run searches to the end.
func (m *machine) run(r *Range) Outcome {
	s := New(r, 0.05)
	for {
		q, more := s.Next()
		if !more {
			return s.Outcome()
		}
		s.Answer(q, m.answer(q))
	}
}

// history is one of commits of which most do nothing, some a little of either, some
// can't be built or don't run, and one makes the start slower.
func history(r *rand.Rand, commits int, step float64) (*machine, int) {
	m := &machine{r: r, logs: make([]float64, commits), broken: map[int]bool{}, noise: 0.03}
	slow := r.IntN(commits)
	level := 0.0
	for c := range m.logs {
		little := 0.0
		switch r.IntN(20) {
		case 0, 1, 2: // the compiler lays it out in another way
			little = 0.002 * r.NormFloat64()
		case 3:
			m.broken[c] = true
		}
		if c == slow {
			level += math.Log1p(step)
		}
		m.logs[c] = level + little
	}
	for c := slow; c < min(commits, slow+r.IntN(4)) && r.IntN(5) == 0; c++ {
		m.broken[c] = true // beside the step, too
	}
	delete(m.broken, commits-1) // the bad end runs, or nothing is searched
	return m, slow
}

// TestWrongCommits: over 200 commits the wrong one is named so seldom that the upper
// bound of its share is at most 7 %, and the right one nearly always.
func TestWrongCommits(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for seconds: left out with -short")
	}
	const runs, commits, shards = 1000, 200, 4
	steps := []float64{0.03, 0.04} // 1 ms of 25
	var mu sync.Mutex
	var wrong, named, open, blocks, worstAsked int
	var wait sync.WaitGroup
	for shard := range shards {
		wait.Go(func() {
			for i := shard; i < runs; i += shards {
				m, slow := history(rand.New(rand.NewPCG(19, uint64(i))), commits, steps[i%len(steps)])
				o := m.run(line(commits))
				mu.Lock()
				blocks += m.blocks
				worstAsked = max(worstAsked, m.asked)
				switch {
				case (o.Result == Found || o.Result == Among) && slices.Contains(o.Commits, slow):
					named++
				case o.Result == Found || o.Result == Among || o.Result == Backwards:
					wrong++
				default:
					open++
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	bound := stats.Wilson(wrong, runs, 0.9).Hi // one-sided 95 %
	t.Logf("of %d searches %d named the commit, %d a wrong one (upper bound %.1f %%), %d none; %d blocks each, at most %d measurements", runs, named, wrong, 100*bound, open, blocks/runs, worstAsked)
	if bound > 0.07 {
		t.Errorf("%d of %d searches named a wrong commit: the upper bound is %.1f %%", wrong, runs, 100*bound)
	}
	if named < runs*9/10 {
		t.Errorf("only %d of %d searches named the commit", named, runs)
	}
}
