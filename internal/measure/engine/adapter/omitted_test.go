package adapter

import (
	"testing"

	"plimsoll/internal/measure/engine"
)

// The durability of an engine is gone where what it started is answered for fsync of no
// file, and the filter that does so is none that the engine was asked to leave out.
func TestJudgeDurability(t *testing.T) {
	for name, c := range map[string]struct {
		without, fsync, mode, filters string
		kept, filtered                bool
	}{
		"gone":              {engine.Durability, "0", "2", "1", false, false},
		"gone, and another": {engine.Durability, "0", "2", "2", false, true},
		"not counted":       {engine.Durability, "0", "2", "", false, false},
		"still there":       {engine.Durability, "-9", "0", "0", true, false},
		"not told":          {engine.Durability, "", "0", "0", true, false},
		"refused":           {engine.Durability, "-1", "2", "1", true, true},
		"not asked for":     {engine.DefaultLevel, "-9", "2", "1", false, true},
	} {
		inside := map[string]string{"fsync": c.fsync, "seccomp": c.mode, "seccomp.filters": c.filters, "uname.release": "6", "uname.version": "1"}
		err := JudgeOmitted(engine.Spec{Levels: map[string]string{engine.Without: c.without}}, inside)
		if (err != nil) != c.kept {
			t.Errorf("%s: %v", name, err)
		}
		s := Seen{Inside: inside, Host: HostState{Kernel: "6 1", Seccomp: "0"}}
		if err := s.JudgeNoSeccomp(); (err != nil) != c.filtered {
			t.Errorf("%s: %v", name, err)
		}
	}
}
