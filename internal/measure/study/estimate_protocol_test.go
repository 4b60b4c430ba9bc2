package study

import (
	"testing"
	"time"

	"plimsoll/internal/record"
)

func TestTrialTime(t *testing.T) {
	for _, c := range []struct {
		name   string
		params map[string]string
		want   time.Duration
	}{
		{"hello", nil, time.Second},
		{"one-of-yours", map[string]string{"seconds": "10", "protocol": "tcp"}, 11 * time.Second},
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
		w := &record.Workload{Name: c.name, Params: c.params}
		if got := time.Duration(trialTime(w, float64(time.Second))).Round(time.Millisecond); got != c.want {
			t.Errorf("%s %v: %v, want %v", c.name, c.params, got, c.want)
		}
	}
}

// A driver that copies takes long with a large image, and each large image and
// each storage driver has to be made ready.
func TestEstimateOfImages(t *testing.T) {
	p := &Plan{Protocol: record.Protocol{Blocks: 2, PerBlock: 1}, Environments: []record.Environment{
		{ID: "native", Engine: "native", Baseline: "native"},
		{ID: "vfs", Engine: "docker", Levels: map[string]string{"storage": "vfs", "image": "debian"}},
		{ID: "plain", Engine: "docker"},
	}, Workloads: []record.Workload{{Name: "hello"}}, Cells: []Cell{{Env: 0}, {Env: 1}, {Env: 2}}}
	typical := map[string]time.Duration{"native": 0, "docker": time.Second}
	if got := p.Estimate(typical); got != 2*5*time.Second {
		t.Errorf("the trials take %v", got)
	}
	if got := p.Opening(); got != 2*openingPlain+openingImage+openingStorage {
		t.Errorf("opening takes %v", got)
	}
}
