package run

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine/fake"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/record"
)

// stopAfter ends a run after so many of its own trials.
type stopAfter struct {
	NoProgress
	n      int
	finish chan struct{}
	said   *[]string
}

func (s *stopAfter) Trial(Upcoming) {
	if s.n--; s.n == 0 {
		close(s.finish)
	}
}

func (s *stopAfter) Remark(text string) { *s.said = append(*s.said, text) }

// decided lets "b" leave after two blocks and ends the run after four.
func decided(asked *[]int) Steering {
	return Steering{
		At: func(blocks int) bool { return blocks == 2 || blocks == 4 },
		Look: func(blocks int, _ string) (record.Look, error) {
			*asked = append(*asked, blocks)
			l := record.Look{Rule: record.RuleUntil, Asked: 2, Settled: blocks / 2}
			if blocks == 2 {
				l.Cells = []record.LookCell{{Env: "b", Workload: "hello", Left: true}, {Env: "c", Workload: "hello"}}
			}
			if blocks >= 4 {
				l.Ended, l.Why = true, "all is known"
			}
			return l, nil
		},
		Say:     func(l record.Look) string { return fmt.Sprintf("looked after %d", l.Blocks) },
		Foresee: func(blocks int) string { return "foreseen" },
	}
}

func named(name string) spoiled { return spoiled{Fake: fake.New(), name: name, from: 1 << 30} }

// A look takes cells out and ends the run; wherever the run is interrupted,
// the resumed one comes to the same trials by the same looks, each made once.
func TestLooks(t *testing.T) {
	const most = 6
	whole := 1*3 + 2*3 + 2*2 // warm-up, two blocks of all, two without b
	for _, after := range []int{0, 1, 8, 9, 10, whole - 1, whole} {
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			o := options(t, most, named("a"), named("b"), named("c"))
			o.Plan.Protocol.Until = 0.02
			var asked []int
			var said []string
			o.Steering = decided(&asked)
			finish := make(chan struct{})
			o.Finish, o.Progress = finish, &stopAfter{n: after, finish: finish, said: &said}
			sum, err := Execute(t.Context(), o)
			require.NoError(t, err)
			if want := after > 0 && after < whole; sum.Interrupted != want || want && sum.Trials != after {
				t.Fatalf("summary %+v after %d trials", sum, after)
			}
			if sum.Interrupted {
				old, err := record.Open(o.Dir)
				require.NoError(t, err)
				o.Run, o.Resume, o.Finish = old.Run(), true, make(chan struct{})
				if o.Plan, err = study.FromRun(old.Run()); err != nil {
					t.Fatal(err)
				}
				if sum, err = Execute(t.Context(), o); err != nil || sum.Interrupted {
					t.Fatalf("%+v %v", sum, err)
				}
			}
			if sum.Trials != whole || !slices.Equal(asked, []int{2, 4}) {
				t.Errorf("%d trials, not %d; looked after %v", sum.Trials, whole, asked)
			}
			if n := len(slices.DeleteFunc(slices.Clone(said), func(s string) bool { return s != "foreseen" })); n != 1 && after != 9 { // cut off right after it was said
				t.Errorf("%d times foreseen: %v", n, said)
			}
			for env, want := range map[string]int{"a": 4, "b": 2, "c": 4} {
				last := -1
				for _, tr := range results(t, o.Dir)[env] {
					if err := o.Plan.Check(&tr); err != nil {
						t.Error(err)
					}
					last = max(last, tr.Block)
				}
				if last != want {
					t.Errorf("%s ended with block %d, not %d", env, last, want)
				}
			}
			r, err := record.Open(o.Dir)
			require.NoError(t, err)
			looks := r.Run().Looks
			if r.Run().Status != "done" || len(looks) != 2 || looks[0].Blocks != 2 || looks[0].Ended || !looks[1].Ended || looks[1].Why != "all is known" || looks[1].At.IsZero() {
				t.Errorf("status %s, looks %+v", r.Run().Status, looks)
			}
		})
	}
}

// A run that never settles ends with its last block, and says so.
func TestLooksEnd(t *testing.T) {
	o := options(t, 3, named("a"), named("b"))
	o.Plan.Protocol.Until = 0.02
	var why string
	o.Steering = Steering{At: func(int) bool { return false }, Look: func(_ int, w string) (record.Look, error) {
		why = w
		return record.Look{Rule: record.RuleUntil, Why: w}, nil
	}}
	if sum, err := Execute(t.Context(), o); err != nil || sum.Trials != 8 {
		t.Fatalf("%+v %v", sum, err)
	}
	r, err := record.Open(o.Dir)
	require.NoError(t, err)
	if looks := r.Run().Looks; len(looks) != 1 || !looks[0].Ended || looks[0].Blocks != 3 || why == "" {
		t.Errorf("looks %+v, because %q", looks, why)
	}
}

// Where no block fits there is one all the same.
func TestBudget(t *testing.T) {
	o := options(t, 50, named("a"), named("b"))
	o.Plan.Protocol.TimeBudgetNS = 1
	if sum, err := Execute(t.Context(), o); err != nil || sum.Trials != 4 {
		t.Fatalf("%+v %v", sum, err)
	}
	r, err := record.Open(o.Dir)
	require.NoError(t, err)
	if looks := r.Run().Looks; len(looks) != 1 || looks[0].Rule != record.RuleTime || !looks[0].Ended || looks[0].Blocks != 1 {
		t.Errorf("looks %+v", looks)
	}
}

// After the fixed blocks come further ones for what claims need, as long as the
// look says so and their time lasts: the fixed ones are measured in any case.
func TestClaimTime(t *testing.T) {
	for _, c := range []struct {
		limit  time.Duration
		trials int
		looks  []int
	}{{0, 2*(1+2) + 6, []int{2, 4, 8}}, {1, 2 * (1 + 2), []int{2}}} {
		o := options(t, 2, named("a"), named("b"))
		p := &o.Plan.Protocol
		p.ClaimLooks, p.Blocks, p.ClaimTimeNS = study.ClaimLooks(2, 0), 8, int64(c.limit)
		o.Plan.ForClaims(func(e *record.Environment, _ *record.Workload) bool { return e.ID == "a" })
		o.Steering = Steering{At: func(n int) bool { return slices.Contains(p.ClaimLooks, n) }, Look: func(n int, why string) (record.Look, error) {
			return record.Look{Rule: record.RuleClaims, Asked: 1, Claims: []record.LookClaim{{ID: "t/1", Open: true}}, Why: why}, nil
		}}
		sum, err := Execute(t.Context(), o)
		if err != nil || sum.Trials != c.trials {
			t.Fatalf("%+v %v", sum, err)
		}
		r, err := record.Open(o.Dir)
		require.NoError(t, err)
		var at []int
		for _, l := range r.Run().Looks {
			at = append(at, l.Blocks)
		}
		looks := r.Run().Looks
		if !slices.Equal(at, c.looks) || !looks[len(looks)-1].Ended {
			t.Errorf("looks %+v", looks)
		}
		if q, err := study.FromRun(r.Run()); err != nil || q.Trials() != o.Plan.Trials() {
			t.Errorf("resumed: %v", err)
		}
	}
}

// What fits is told from what each cell took: those that left take nothing.
func TestTimeIsUp(t *testing.T) {
	c := &course{runner: &runner{site: site{rec: &record.Run{Protocol: record.Protocol{TimeBudgetNS: int64(time.Hour), PerBlock: 2}}}}, gone: make([]bool, 3), costs: newCosts(3)}
	c.begun = time.Now().Add(-20 * time.Minute)
	c.spent = 10 * time.Minute
	c.costs.add(0, 9*time.Minute)
	c.costs.add(0, 11*time.Minute)
	c.costs.add(1, 4*time.Minute)
	if got := c.costs.round(c.gone); got != 22*time.Minute { // 10 + 4 + the mean of all
		t.Errorf("a round takes %v", got)
	}
	if c.timeIsUp(0) == "" {
		t.Error("44 minutes fit into 30")
	}
	c.gone[0] = true
	if why := c.timeIsUp(0); why != "" {
		t.Errorf("24 minutes don't fit into 30: %s", why)
	}
	c.rec.Protocol.TimeBudgetNS = 0
	if why := c.timeIsUp(0); why != "" {
		t.Errorf("there is no budget: %s", why)
	}
}

// The time that is left counts what each cell takes and how many of it are to
// come: dear ones that occur in few blocks are soon over.
func TestLeft(t *testing.T) {
	o := options(t, 10, named("a"), named("b"), named("c"))
	o.Plan.Protocol.Warmup = 0
	o.Plan.Cells[1].Blocks = 2
	c := &course{runner: &runner{Options: o, site: site{rec: &record.Run{Protocol: o.Plan.Protocol}}}, gone: make([]bool, 3), rest: make([]int, 3), costs: newCosts(3)}
	for i := range c.rest {
		c.rest[i] = o.Plan.TrialsOf(i)
	}
	if left, total, blocks := c.left(0); left != 0 || total != 22 || blocks != 10 {
		t.Errorf("nothing is known: %v, %d, %d", left, total, blocks)
	}
	c.rec.Protocol.TimeBudgetNS = int64(16 * time.Second)
	if left, total, blocks := c.left(0); left != 0 || total != 0 || blocks != 0 {
		t.Errorf("nothing is known of what fits into a budget: %v, %d, %d", left, total, blocks)
	}
	c.rec.Protocol.TimeBudgetNS = 0
	for range 2 {
		c.did(0, 0, time.Second)
		c.did(1, 0, time.Minute)
		c.did(2, 0, 3*time.Second)
	}
	c.did(0, 0, time.Second)
	if left, total, blocks := c.left(7); left != 31*time.Second || total != 22 || blocks != 10 { // 7 × 1 s and 8 × 3 s
		t.Errorf("%v, %d, %d", left, total, blocks)
	}
	c.gone[2] = true
	if left, total, _ := c.left(7); left != 7*time.Second || total != 14 {
		t.Errorf("without c: %v, %d", left, total)
	}
	c.gone[2] = false
	c.costs.sum[2], c.costs.n[2] = 0, 0                                                   // as if it had not run: the mean of its workload
	if left, _, _ := c.left(7); left.Round(time.Millisecond) != 203800*time.Millisecond { // 7 × 1 s and 8 × 123/5 s
		t.Errorf("with c unknown: %v", left)
	}
}

// Of a run that was cut off, each part counts from its beginning to its last
// trial, and the time between the parts does not.
func TestPast(t *testing.T) {
	o := options(t, 4, named("a"), named("b"))
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	run := &record.Run{ID: "x", Started: begin, Resumed: []time.Time{begin.Add(time.Hour), begin.Add(2 * time.Hour)}}
	o.Plan.Record(run)
	run.Protocol.TimeBudgetNS = int64(time.Hour)
	dir := filepath.Join(t.TempDir(), "run")
	w, err := record.Create(dir, run)
	require.NoError(t, err)
	for seq, at := range []time.Duration{time.Minute, 2 * time.Minute, time.Hour + 3*time.Minute, time.Hour + 5*time.Minute} {
		p := o.Plan.Trial(seq)
		require.NoError(t, w.Append(&record.Trial{Seq: seq, Block: p.Block, Env: p.Env.ID, Workload: p.Workload.ID, At: begin.Add(at)}))
	}
	require.NoError(t, w.Close())
	c := &course{runner: &runner{Options: Options{Plan: o.Plan, Dir: dir}, site: site{rec: run}}, costs: newCosts(2)}
	require.NoError(t, c.past())
	if c.spent != 7*time.Minute {
		t.Errorf("it took %v, not 2 and 5 minutes", c.spent)
	}
	if n := c.costs.n[0] + c.costs.n[1]; n != 2 || c.costs.sum[0]+c.costs.sum[1] != 3*time.Minute {
		t.Errorf("costs of %d trials: %v", n, c.costs.sum)
	}
}
