package evaluate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/internal/record"
)

// programs holds which programs were measured: for each workload, by the digest of
// the program as it was found inside, the environments where it was.
type programs []map[string]map[int]bool

func (b programs) add(w, e int, digest string) {
	if digest == "" {
		return
	}
	if b[w] == nil {
		b[w] = map[string]map[int]bool{}
	}
	if b[w][digest] == nil {
		b[w][digest] = map[int]bool{}
	}
	b[w][digest][e] = true
}

// programRemarks warn of a workload whose program was not the same everywhere:
// the difference of two times is then not the engine's alone. The baseline
// host is left out, since other programs are what it is for.
func (s *store) programRemarks(w int) []record.Remark {
	var groups []string
	for _, digest := range slices.Sorted(maps.Keys(s.programs[w])) {
		var envs []string
		for _, e := range slices.Sorted(maps.Keys(s.programs[w][digest])) {
			if s.run.Environments[e].Baseline != "host" {
				envs = append(envs, s.run.Environments[e].ID)
			}
		}
		if len(envs) > 0 {
			groups = append(groups, fmt.Sprintf("%.12s in %s", digest, strings.Join(envs, ", ")))
		}
	}
	if len(groups) < 2 {
		return nil
	}
	return []record.Remark{{Code: "different-programs", Level: warn, Workload: s.run.Workloads[w].ID,
		Text:   "the program that was measured is not the same everywhere: " + strings.Join(groups, "; "),
		Advice: "give all environments the same image"}}
}
