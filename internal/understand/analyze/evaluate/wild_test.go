package evaluate_test

import (
	"strings"
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
)

// A start that took ten times as long is named with what was recorded around it;
// where nothing was, that is said; and an ordinary slow one is not wild at all.
func TestWildValues(t *testing.T) {
	slower := func(t *record.Trial, by int64) {
		for e, v := range t.Events {
			t.Events[e] = t.Events[record.Request] + by*(v-t.Events[record.Request])
		}
	}
	long := int64(1e9) // far more than any start here takes
	for _, c := range []struct {
		name, want string
		each       func(*record.Trial)
	}{
		{"steal", "while the hypervisor took the processor away", func(t *record.Trial) { t.Host = &record.Disturbance{StealNS: long} }},
		{"the limit", "held back by the CPU limit", func(t *record.Trial) { t.Host = &record.Disturbance{ThrottledNS: &long} }},
		{"memory", "while processes waited for memory", func(t *record.Trial) { t.Host = &record.Disturbance{MemoryPressureNS: long} }},
		{"disk", "while processes waited for a disk", func(t *record.Trial) { t.Host = &record.Disturbance{IOPressureNS: long} }},
		{"processor", "while processes waited for a processor", func(t *record.Trial) { t.Host = &record.Disturbance{CPUPressureNS: long} }},
		{"busy before", "right after a wait for a calm machine", func(t *record.Trial) { t.Quiet = 3e9 }},
		{"nothing", "without a cause that was recorded", nil},
		{"too little of it", "without a cause that was recorded", func(t *record.Trial) { t.Host = &record.Disturbance{StealNS: 1} }},
	} {
		res := disturbed(t, func(s *recordtest.Spec) { s.Blocks, s.PerBlock = 20, 1 }, func(t *record.Trial) {
			if t.Env == "runc" && t.Block%10 == 4 {
				slower(t, 10)
				if c.each != nil {
					c.each(t)
				}
			}
		})
		found := 0
		for _, m := range res.Remarks {
			if m.Code != "wild" {
				continue
			}
			found++
			if m.Env != "runc" || m.Metric != "startup" || !strings.Contains(m.Text, "2 values took up to ") || !strings.HasSuffix(m.Text, ": 2 "+c.want) {
				t.Errorf("%s: %s %s: %s", c.name, m.Env, m.Metric, m.Text)
			}
		}
		if found != 1 {
			t.Errorf("%s: %d remarks", c.name, found)
		}
	}
	// What all took long in is the machine's, and a fifth more is nothing.
	res := disturbed(t, func(s *recordtest.Spec) { s.Blocks, s.PerBlock = 20, 1 }, func(t *record.Trial) {
		if t.Block == 4 {
			slower(t, 10)
		}
	})
	n := 0
	for _, m := range res.Remarks {
		if m.Code == "wild" {
			if n++; !strings.HasSuffix(m.Text, "in blocks in which others took as long") {
				t.Errorf("%s: %s", m.Env, m.Text)
			}
		}
	}
	if n != len(res.Environments) {
		t.Errorf("%d of %d environments are said to have been slow", n, len(res.Environments))
	}
	for _, m := range disturbed(t, nil, nil).Remarks {
		if m.Code == "wild" {
			t.Errorf("a quiet run: %s", m.Text)
		}
	}
}
