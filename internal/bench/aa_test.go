package main

import (
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze/evaluate"
)

// TestSplit: a long run falls into parts of so many blocks, each a run of its
// own, and an environment that is twice as slow as itself is told from itself
// in each of them.
func TestSplit(t *testing.T) {
	for until, want := range map[int]int{0: 3, 200: 2} { // all 36 blocks, or killed in the third part
		s := recordtest.Typical()
		s.Blocks, s.PerBlock, s.Until = 36, 1, until
		s.Envs = []recordtest.Env{s.Envs[1], s.Envs[5], s.Envs[5], s.Envs[5], s.Envs[5], s.Envs[5], s.Envs[5]}
		for i, id := range []string{"native", "same@a", "same@b", "other@a", "other@b", "x", "y"} {
			s.Envs[i].ID = id
		}
		s.Envs[4].StartUp *= 2
		parts, err := split(s.Write(t), t.TempDir(), 12)
		if err != nil || len(parts) != want {
			t.Fatalf("until %d: %d parts, %v", until, len(parts), err)
		}
		var same, other alarms
		for _, dir := range parts {
			r, err := record.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			res, err := evaluate.Run(r, evaluate.Options{})
			if err != nil || res.Run.Blocks != 12 || res.Run.Trials != 12*7 {
				t.Fatalf("%v: %+v", err, res.Run)
			}
			if err := same.count(res, "same@a", "same@b"); err != nil {
				t.Fatal(err)
			}
			if err := other.count(res, "other@a", "other@b"); err != nil {
				t.Fatal(err)
			}
		}
		if want := (alarms{want, want, want, want, want}); other != want || same.letters != 0 || same.times != want.times {
			t.Errorf("%+v of what differs, %+v of what does not", other, same)
		}
	}
}
