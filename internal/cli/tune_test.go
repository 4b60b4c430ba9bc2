//go:build linux

package cli

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/tune"
)

// TestTunedKilled kills runs on a tuned machine: whenever it is, all states of the
// machine are as before once plimsoll clean, or the next run, has been there.
func TestTunedKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("sets states of the machine: left out with -short")
	}
	before := tune.Machine{}.Look()
	can := 0
	for _, s := range before {
		can += len(s.Changes)
	}
	if os.Geteuid() != 0 || can == 0 {
		t.Skip("no state of this machine can be set")
	}
	settings := settingsNow()
	p := &subject{t: t, dir: t.TempDir()}
	next := filepath.Join(p.dir, "next.yaml")
	require.NoError(t, os.WriteFile(next, []byte("plimsoll: 1\nname: next\nprotocol: {blocks: 1, warmup: 0}\nbaselines: []\nworkloads: [hello]\nenvironments: [floor]\n"), 0o600))
	// The levels of every second run are values of one setting.
	levels := []string{"[default, all]", "[rcu-expedited=0, rcu-expedited=1]"}
	seen := false
	for i := range 6 {
		study := filepath.Join(p.dir, "tuned.yaml")
		require.NoError(t, os.WriteFile(study, []byte(`plimsoll: 1
name: tuned
protocol: {blocks: 500, warmup: 0}
baselines: []
workloads: [hello]
environments: [{engine: floor, tuned: `+levels[i%len(levels)]+`}]
`), 0o600))
		p.out = filepath.Join(p.dir, "result-"+string(rune('a'+i)))
		p.killAfter(time.Duration(300+250*i)*time.Millisecond, "run", "--wait", study, "-o", p.out, "--force", "--progress", "none")
		for k, s := range (tune.Machine{}).Look() {
			seen = seen || s.Now != before[k].Now // between two trials it may be as it was
		}
		if _, err := os.Stat(filepath.Join(p.dir, "state", "kernel-setting.json")); err == nil {
			seen = true
		}
		putBack := []string{"clean", "--wait"}
		if i == 3 { // the next run does it, too
			putBack = []string{"run", "--wait", next, "-o", filepath.Join(p.dir, "next"), "--force", "--progress", "none"}
		}
		if code, said := p.run(putBack...); code != 0 {
			t.Fatalf("status %d: %s", code, said)
		}
		if now := settingsNow(); !maps.Equal(now, settings) {
			t.Fatalf("not all is as before:\n%v\nwas\n%v", now, settings)
		}
	}
	if !seen {
		t.Error("no kill came while the machine was tuned")
	}
}

// settingsNow says of all that can be set here what it is: every file of a state that
// has several, and what only a value can set.
func settingsNow() map[string]string {
	states := tune.Machine{}.Look()
	for _, level := range tune.Values() {
		if more, err := (tune.Machine{}).Wanted(level); err == nil { // else it can't be set here
			states = append(states, more...)
		}
	}
	now := map[string]string{}
	for _, s := range states {
		for _, c := range s.Changes {
			now[c.Path] = c.Old
		}
	}
	return now
}
