package aa

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/evaluate"
)

// TestSplit: a long run falls into parts of so many blocks, each a run of its
// own, and an environment that is twice as slow as itself is told from itself
// in each of them.
func TestSplit(t *testing.T) {
	for until, want := range map[int]int{0: 3, 200: 2} { // all 36 blocks, or killed in the third part
		var results []*analyze.Result
		s := recordtest.Typical()
		s.Blocks, s.PerBlock, s.Until = 36, 1, until
		s.Envs = []recordtest.Env{s.Envs[1], s.Envs[5], s.Envs[5], s.Envs[5], s.Envs[5], s.Envs[5], s.Envs[5]}
		for i, id := range []string{"native", "same@a", "same@b", "other@a", "other@b", "x", "y"} {
			s.Envs[i].ID = id
		}
		s.Envs[4].StartUp *= 2
		whole, err := record.Open(s.Write(t))
		require.NoError(t, err)
		parts, err := split(whole, filepath.Join(t.TempDir(), "part"), 12)
		if err != nil || len(parts) != want {
			t.Fatalf("until %d: %d parts, %v", until, len(parts), err)
		}
		var same, other alarms
		for _, dir := range parts {
			r, err := record.Open(dir)
			require.NoError(t, err)
			res, err := evaluate.Run(r, evaluate.Options{})
			if err != nil || res.Run.Blocks != 12 || res.Run.Trials != 12*7 {
				t.Fatalf("%v: %+v", err, res.Run)
			}
			results = append(results, res)
			require.NoError(t, same.count(res, "same@a", "same@b"))
			require.NoError(t, other.count(res, "other@a", "other@b"))
		}
		if want := (alarms{want, want, want, want, want}); other != want || same.letters != 0 || same.times != want.times {
			t.Errorf("%+v of what differs, %+v of what does not", other, same)
		}
		var table aaTable
		require.NoError(t, table.inside(results, true))
		require.NoError(t, table.between(results[:1], results[1:2], true))
		var out strings.Builder
		table.print(&out)
		if f := table.row(aaRow{"same", true, true}); f.times != 2 || f.verdict != 0 || table.row(aaRow{"other", true, false}).verdict != want || !strings.Contains(out.String(), "at most") {
			t.Errorf("between two runs: %+v\n%s", f, out.String())
		}
	}
}

// TestBetweenTells: an environment that is twice as slow in the next run is told
// from itself.
func TestBetweenTells(t *testing.T) {
	var runs []*analyze.Result
	for _, times := range []int{1, 2} {
		s := recordtest.Typical()
		s.Blocks, s.PerBlock = 12, 1
		s.Envs = []recordtest.Env{s.Envs[1], s.Envs[5]}
		s.Envs[0].ID, s.Envs[1].ID = "native", "x@a"
		s.Envs[1].StartUp *= time.Duration(times)
		r, err := record.Open(s.Write(t))
		require.NoError(t, err)
		res, err := evaluate.Run(r, evaluate.Options{})
		require.NoError(t, err)
		runs = append(runs, res)
	}
	var table aaTable
	require.NoError(t, table.between(runs[:1], runs[1:], false))
	once := alarms{times: 1, interval: 1, verdict: 1, compare: 1}
	if f := table.row(aaRow{"x", false, true}); *f != once {
		t.Errorf("%+v", f)
	}
	// Several invocations add up.
	file := filepath.Join(t.TempDir(), "counts.json")
	for range 2 {
		var sum aaTable
		require.NoError(t, sum.add(file))
		sum.row(aaRow{"x", false, true}).plus(once)
		require.NoError(t, sum.keep(file))
	}
	var sum aaTable
	if err := sum.add(file); err != nil || *sum.row(aaRow{"x", false, true}) != (alarms{2, 2, 2, 0, 2}) {
		t.Errorf("%v %+v", err, sum.rows)
	}
}
