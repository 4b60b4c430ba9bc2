package record

import (
	"maps"
	"slices"
	"testing"

	"plimsoll/internal/common/require"
)

// A record of before has the removal's stamp as the container's end, where the
// client comes back only then: no metric is from there or to there.
func TestEndThatIsTheRemovals(t *testing.T) {
	run := `{"format": 1, "id": "x", "environments": [
		{"id": "rm", "engine": "docker", "facts": {"client": "cli"}},
		{"id": "api", "engine": "docker", "facts": {"client": "api"}},
		{"id": "process", "engine": "charliecloud", "facts": {"client": "cli"}}]}`
	trials := ""
	for i, env := range []string{"rm", "rm", "api", "process"} {
		removed := "9"
		if i == 1 { // such as a held one, whose removal is a step of its own
			removed = "10"
		}
		trials += `{"seq": ` + string(rune('0'+i)) + `, "env": "` + env + `", "events": {"request": 1, "first": 4, "done": 7, "exit": 9, "removed": ` + removed + `}}` + "\n"
	}
	dir := dirWith(t, map[string]string{RunFile: run, TrialsFile: trials})
	has := func(tr *Trial) (ids []string) {
		for _, m := range LifeCycle {
			if _, ok := m.Derive(tr); ok {
				ids = append(ids, m.ID)
			}
		}
		return ids
	}
	want := [][]string{
		{"bootstrap", "execution", "whole"},
		{"bootstrap", "execution", "shutdown", "removal", "whole"},
		{"bootstrap", "execution", "shutdown", "whole"},
		{"bootstrap", "execution", "shutdown", "whole"},
	}
	r, err := Open(dir)
	require.NoError(t, err)
	n := 0
	for tr, err := range r.Trials() {
		require.NoError(t, err)
		if got := has(tr); !slices.Equal(got, want[n]) {
			t.Errorf("trial %d (%s, %v): %v, want %v", n, tr.Env, slices.Sorted(maps.Keys(tr.Events)), got, want[n])
		}
		n++
	}
	followed := 0
	if _, err := Follow(dir).Next(func(tr *Trial) {
		if got := has(tr); !slices.Equal(got, want[followed]) {
			t.Errorf("followed trial %d: %v, want %v", followed, got, want[followed])
		}
		followed++
	}); err != nil || n != len(want) || followed != n {
		t.Errorf("%v; %d and %d trials, want %d", err, n, followed, len(want))
	}
}
