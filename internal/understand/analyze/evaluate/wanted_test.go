package evaluate

import (
	"testing"

	"plimsoll/internal/record"
)

// A part may have fewer blocks than the run: nothing is missing then.
func TestPartsHaveBlocks(t *testing.T) {
	part := func(blocks int, envs ...string) record.Part {
		return record.Part{Blocks: blocks, Environments: envs, Workloads: []string{"w"}}
	}
	s := &store{run: &record.Run{Protocol: record.Protocol{Blocks: 10}}}
	s.run.Study.Parts = []record.Part{part(0, "whole", "both"), part(6, "six", "both", "less"), part(4, "less"), part(20, "more")}
	for env, want := range map[string]int{"whole": 10, "both": 10, "six": 6, "less": 6, "more": 10} {
		if got := s.wanted(env, "w"); got != want {
			t.Errorf("%s takes part in %d blocks, not %d", env, got, want)
		}
	}
	s.run.Looks = []record.Look{{Blocks: 8, Ended: true}}
	if a, b := s.wanted("six", "w"), s.wanted("whole", "w"); a != 6 || b != 8 {
		t.Errorf("%d and %d blocks after a run that ended after 8", a, b)
	}
}
