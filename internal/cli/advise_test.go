package cli

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/advise"
	"plimsoll/internal/understand/profile"
)

// Each bundled profile names a bundled study, which measures all that it asks for.
func TestProfilesAreMeasured(t *testing.T) {
	w := System()
	w.Getenv = func(string) string { return "" }
	cat := (&setting{world: w}).studyCatalogue()
	cat.Engines = []study.EngineInfo{{Name: "native", Baseline: true}, {Name: "floor", Baseline: true}}
	for _, name := range []string{"docker", "podman", "containerd", "oci", "charliecloud", "apptainer"} {
		cat.Engines = append(cat.Engines, study.EngineInfo{Name: name, Detached: true, Levels: map[string][]string{
			"runtime": {"default", "runsc", "crun"}, "rootless": {"no", "yes"}, "storage": {"default", "overlay"}, "network": {"default", "bridge"}}})
	}
	cat.Engines = append(cat.Engines, study.EngineInfo{Name: "cri", Detached: true, Levels: map[string][]string{
		"runtime": {"runc", "crun", "runsc"}, "endpoint": {"containerd", "crio"}}})
	for _, name := range profile.Names() {
		p, err := profile.Bundled(name)
		require.NoError(t, err)
		st, err := study.Load(p.Study, cat)
		require.NoError(t, err)
		plan, err := study.Expand(st, cat, study.Options{})
		require.NoError(t, err)
		for _, c := range p.Criteria {
			if !slices.ContainsFunc(plan.Workloads, func(w record.Workload) bool {
				for k, levels := range c.Params {
					if !slices.Contains(levels, w.Params[k]) {
						return false
					}
				}
				return w.Name == c.Workload && slices.ContainsFunc(w.AllMetrics(), func(m record.Metric) bool { return m.ID == c.Metric && m.Better == c.Better })
			}) {
				t.Errorf("%s: study %s does not measure %s of %s", c.Where, p.Study, c.Metric, c.Workload)
			}
		}
	}
}

// The manual names every profile and every property.
func TestAdviseManual(t *testing.T) {
	manual, err := os.ReadFile("../../docs/advise.md")
	require.NoError(t, err)
	for _, word := range slices.Concat(profile.Names(), advise.Words()) {
		if !strings.Contains(string(manual), "| `"+word+"` |") {
			t.Errorf("docs/advise.md does not explain %s", word)
		}
	}
	source, err := os.ReadFile("../understand/advise/advise.go")
	require.NoError(t, err)
	codes := regexp.MustCompile(`put\("([a-z-]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(codes) < 4 {
		t.Errorf("only %d remarks found in the source", len(codes))
	}
	for _, c := range codes {
		if !strings.Contains(string(manual), "| `"+c[1]+"` |") {
			t.Errorf("docs/advise.md does not explain the remark %s", c[1])
		}
	}
	hpc, err := profile.Source("hpc")
	require.NoError(t, err)
	if !strings.Contains(string(manual), "```yaml\n"+string(hpc)+"```") {
		t.Error("docs/advise.md does not show the profile hpc as it is")
	}
}
