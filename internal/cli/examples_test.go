package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
)

// The examples are workloads and studies that can be read, and the manual
// shows them as they are.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d examples: %v", len(files), err)
	}
	manual, err := os.ReadFile("../../docs/add-a-workload.md")
	require.NoError(t, err)
	s := &setting{}
	cat := s.studyCatalogue()
	cat.Engines = []study.EngineInfo{{Name: "docker"}, {Name: "podman"}, {Name: "native", Baseline: true}, {Name: "floor", Baseline: true}}
	for i := range cat.Engines {
		cat.Engines[i].Levels = map[string][]string{"network": {"default", "none"}}
	}
	shown := 0
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		if strings.Contains(string(manual), "```yaml\n"+string(data)+"```") {
			shown++
		}
		if strings.HasPrefix(string(data), "plimsoll: 1") {
			st, err := study.Load(f, cat)
			if err != nil {
				t.Error(err)
				continue
			}
			p, err := study.Expand(st, cat, study.Options{})
			if err != nil {
				t.Error(err)
				continue
			}
			own, err := ownWorkloads(p)
			if err != nil || len(own) != 1 {
				t.Errorf("%s: %d workloads of its own: %v", f, len(own), err)
			}
			continue
		}
		if _, err := workload.Read(f, data); err != nil {
			t.Error(err)
		}
	}
	if shown != 2 {
		t.Errorf("docs/add-a-workload.md shows %d of the examples as they are, not the workload and its study", shown)
	}
}
