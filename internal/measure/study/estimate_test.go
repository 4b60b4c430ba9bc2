package study

import (
	"testing"
	"time"

	"plimsoll/internal/record"
)

// A driver that copies takes long with a large image, and each large image and
// each storage driver has to be made ready.
func TestEstimateOfImages(t *testing.T) {
	p := &Plan{Protocol: record.Protocol{Blocks: 2, PerBlock: 1}, Environments: []record.Environment{
		{ID: "native", Engine: "native", Baseline: "native"},
		{ID: "vfs", Engine: "docker", Levels: map[string]string{"storage": "vfs", "image": "debian"}},
		{ID: "plain", Engine: "docker"},
	}, Workloads: []record.Workload{{Name: "hello"}}, Cells: []Cell{{Env: 0}, {Env: 1}, {Env: 2}}}
	typical := map[string]time.Duration{"native": 0, "docker": time.Second}
	if got := p.Estimate(lives(typical)); got != 2*5*time.Second {
		t.Errorf("the trials take %v", got)
	}
	if got := p.Opening(lives(typical)); got != 2*openingPlain+openingImage+openingStorage {
		t.Errorf("opening takes %v", got)
	}
}
