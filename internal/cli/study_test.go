package cli

import (
	"slices"
	"testing"

	"plimsoll/internal/measure/study"
)

// The published matrix in our own factors: as many combinations as the paper
// has, and as many valid ones as the difference in the study explains.
func TestEverarts2020(t *testing.T) {
	s, err := newSetting(World{Getenv: func(k string) string { return map[string]string{"PLIMSOLL_STATE": t.TempDir()}[k] }})
	if err != nil {
		t.Fatal(err)
	}
	cat := s.studyCatalogue()
	st, err := study.Load("everarts2020", cat)
	if err != nil {
		t.Fatal(err)
	}
	p, err := study.Expand(st, cat, study.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if q := p.Published; q.Combinations != 240 || q.Valid != 72 || q.OurCombinations != 246 || q.OurValid != 72 {
		t.Errorf("%+v", q)
	}
	if len(p.Study.Parts) == 0 || p.Study.Parts[0].Name != "matrix" {
		t.Fatalf("the first part is not the published matrix: %+v", p.Study.Parts)
	}
	matrix := p.Study.Parts[0].Environments
	count := map[string]int{}
	for _, e := range p.Environments {
		if slices.Contains(matrix, e.ID) {
			count[e.Engine]++
		}
	}
	for _, x := range p.Excluded {
		if x.Workload != "" || !slices.Contains(matrix, x.ID) {
			continue
		}
		if x.Kind == study.Unavailable {
			count[x.Engine]++
		} else if x.Source == "" {
			t.Errorf("%s is impossible without a source: %s", x.ID, x.Reason)
		}
	}
	if count["docker"] != 38 || count["podman"] != 26 || count["lxd"] != 8 {
		t.Errorf("%v", count)
	}
}
