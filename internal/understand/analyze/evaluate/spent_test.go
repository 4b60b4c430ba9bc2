package evaluate

import (
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
)

// Where a run's time went: what was timed, the waits before all trials, warm-up and
// failed ones too, and the whole; nothing of a run that does not know.
func TestSpent(t *testing.T) {
	s := &store{run: &record.Run{}, envs: map[string]int{"e": 0}, works: map[string]int{"w": 0}, blocks: map[int]int32{},
		views: []map[string]int{{}}, cells: [][]*cellData{{{}}}, metrics: [][]record.Metric{nil}}
	for _, x := range []*record.Trial{
		{Warmup: true, Quiet: 30},
		{Quiet: 50},
		{Quiet: 20, Failure: &record.Failure{Class: record.TimeOut}},
	} {
		x.Env, x.Workload = "e", "w"
		if err := s.add(x); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.spent(); got != nil {
		t.Errorf("of a run that does not know: %+v", *got)
	}
	s.run.Own = &record.Own{Wall: 1000, Timed: 850}
	if got := s.spent(); got == nil || *got != (analyze.Spent{Wall: 1000, Trials: 850, Calm: 100}) {
		t.Errorf("%+v", got)
	}
}
