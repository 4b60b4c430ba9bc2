package workload

import (
	"testing"
	"time"

	"plimsoll/internal/common/require"
)

func TestTrialTime(t *testing.T) {
	for _, c := range []struct {
		name   string
		params map[string]string
		want   time.Duration
	}{
		{"hello", nil, time.Second},
		// A rate is not that of an open loop because it has the name.
		{"iperf3", map[string]string{"seconds": "10", "rate": "1G"}, 11 * time.Second},
		{"density", map[string]string{"count": "100", "rest": "10s", "mode": "detached"}, 122 * time.Second},
		{"load", map[string]string{"rate": "10", "seconds": "30"}, 31 * time.Second},
		{"load", map[string]string{"rate": "search", "seconds": "10"}, 101 * time.Second},
		{"stop", map[string]string{"on-term": "ignore"}, 3 * time.Second},
		{"stop", map[string]string{"on-term": "exit"}, time.Second},
		{"openssl", map[string]string{"seconds": "10"}, 21 * time.Second},
		{"ping", map[string]string{"count": "500", "interval": "0.01"}, 6150 * time.Millisecond},
		{"sqlite-read", map[string]string{"size": "11.9MB"}, 1219 * time.Millisecond},
		{"pull", map[string]string{"image": "debian"}, 6 * time.Second},
	} {
		w, err := Find(c.name)
		require.NoError(t, err)
		if got := w.TrialTime(c.params, time.Second).Round(time.Millisecond); got != c.want {
			t.Errorf("%s %v: %v, want %v", c.name, c.params, got, c.want)
		}
	}
}

// Each workload of the catalogue says what it takes; of a user's that does not,
// the parameter seconds is known.
func TestEveryWorkloadIsEstimated(t *testing.T) {
	for _, w := range Catalogue() {
		if !w.estimated() {
			t.Errorf("%s says nowhere what a trial takes", w.Name)
		}
		if got := w.TrialTime(nil, time.Millisecond); got < time.Millisecond {
			t.Errorf("%s takes %v", w.Name, got)
		}
		of := func(seconds string) time.Duration { return w.TrialTime(map[string]string{"seconds": seconds}, 0) }
		if _, ok := w.Parameters["seconds"]; ok && of("2")-of("1") < time.Second {
			t.Errorf("%s: its parameter seconds does not count", w.Name)
		}
	}
	const mine = "plimsoll-workload: 1\nname: mine\nwhat: Sleeps.\ngroup: os\nimage: busybox\nrun: [/bin/sleep, \"${seconds}\"]\n" +
		"metrics: [{id: rate, unit: ops/s, better: higher, what: A rate., regexp: '([0-9]+)'}]\nparameters: {seconds: {levels: [3]}}\n"
	w, err := Read("mine.yaml", []byte(mine))
	require.NoError(t, err)
	if w.estimated() || w.TrialTime(nil, time.Second) != 4*time.Second {
		t.Errorf("a workload that does not say takes %v", w.TrialTime(nil, time.Second))
	}
}
