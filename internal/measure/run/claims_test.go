package run

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/host/proc"
)

// TestTidyBesideOthers: in a state directory that hosts and containers share, what another
// one is claiming stays, also before its proof is there; what nobody can be claiming any
// more goes, whoever has begun it.
func TestTidyBesideOthers(t *testing.T) {
	us, err := proc.Here.Stat(os.Getpid())
	require.NoError(t, err)
	now := here()
	node := origin{Boot: "x", PIDs: now.PIDs, Host: "node1"}
	clone := origin{Boot: "x", PIDs: now.PIDs, Host: now.Host}
	container := origin{Boot: now.Boot, PIDs: "pid:[1]", Host: "c0ffee"}
	const id = "abcd1234"
	const goes, stays, told = gone, alive, unseen
	for _, c := range []struct {
		what, name string
		proof      *Owner // nil: torn
		new, old   fate   // what becomes of it, and where it is of the day before yesterday
	}{
		{"ours, torn", claimOf(id, now), nil, goes, goes},
		{"ours, of a process that has ended", claimOf(id, now), &Owner{PID: 1, Start: "x", origin: now}, goes, goes},
		{"ours, going on", claimOf(id, now), &Owner{PID: os.Getpid(), Start: us.StartText(), origin: now}, stays, stays},
		{"another host's, torn", claimOf(id, node), nil, told, goes},
		{"another host's", claimOf(id, node), &Owner{PID: 1, Start: "x", origin: node}, told, goes},
		{"of a host of our name, or of ours before it was booted, torn", claimOf(id, clone), nil, told, goes},
		{"another container's, or ours of when that was another one, torn", claimOf(id, container), nil, told, goes},
		{"an earlier version's, torn", claiming + id, nil, told, goes},
		{"an earlier version's, of another host", claiming + id, &Owner{PID: 1, Start: "x", origin: node}, told, goes},
		{"an earlier version's, of a process that has ended here", claiming + id, &Owner{PID: 1, Start: "x", origin: now}, goes, goes},
		{"nobody's claim", claiming + "thesis", nil, stays, stays},
	} {
		for age, want := range map[time.Duration]fate{0: c.new, 47 * time.Hour: c.old} {
			s := State{t.TempDir()}
			dir := filepath.Join(s.Dir, "runs", c.name)
			require.NoError(t, os.MkdirAll(dir, 0o755))
			if c.proof != nil {
				c.proof.RunID = id
				b, err := json.Marshal(c.proof)
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(filepath.Join(dir, ownerFile), b, 0o644))
			}
			at := time.Now().Add(-age)
			require.NoError(t, os.Chtimes(dir, at, at))
			elsewhere, err := s.tidy()
			require.NoError(t, err)
			_, err = os.Lstat(dir)
			switch is := len(elsewhere) == 1 && elsewhere[0] == dir; {
			case (err != nil) != (want == goes):
				t.Errorf("%s, %v old: it is gone: %v", c.what, age, err != nil)
			case is != (want == told):
				t.Errorf("%s, %v old: told of %v", c.what, age, elsewhere)
			}
		}
	}
	// Of two hosts that claim one run the second is refused.
	s := State{t.TempDir()}
	_, err = s.Claim(id, "", nil)
	require.NoError(t, err)
	runs, err := s.runs(false)
	require.NoError(t, err)
	defer runs.Close()
	second, err := runs.Mkdir(claimOf(id, node), 0o700)
	require.NoError(t, err)
	second.Close()
	if err := runs.Rename(claimOf(id, node), id); err == nil {
		t.Error("a claim took the folder of another")
	}
	require.NoError(t, s.Release(id))
}
