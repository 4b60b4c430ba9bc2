package cli

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/published"
	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/study"
)

// The published matrix in our own factors is the authors' own: the plan's valid
// combinations are, each for each, the configurations of their data set.
func TestEverarts2020(t *testing.T) {
	s, err := newSetting(World{Getenv: func(k string) string { return map[string]string{"PLIMSOLL_STATE": t.TempDir()}[k] }})
	require.NoError(t, err)
	cat := s.studyCatalogue()
	st, err := study.Load("everarts2020", cat)
	require.NoError(t, err)
	p, err := study.Expand(st, cat, study.Options{})
	require.NoError(t, err)
	if q := p.Published; q.Combinations != 240 || q.Valid != 72 || q.OurCombinations != 246 || q.OurValid != 72 {
		t.Errorf("%+v", q)
	}
	if len(p.Study.Parts) == 0 || p.Study.Parts[0].Name != "matrix" {
		t.Fatalf("the first part is not the published matrix: %+v", p.Study.Parts)
	}
	matrix := p.Study.Parts[0].Environments
	theirs := map[string]bool{}
	for _, r := range published.EverartsData() {
		theirs[r.Configuration()+" "+r.Image] = true
	}
	ours := map[string]bool{}
	add := func(e string, levels map[string]string) { ours[everartsName(e, levels)] = true }
	for _, e := range p.Environments {
		if slices.Contains(matrix, e.ID) {
			add(e.Engine, e.Levels)
		}
	}
	for _, x := range p.Excluded {
		if x.Workload != "" || !slices.Contains(matrix, x.ID) {
			continue
		}
		if x.Kind == study.Unavailable {
			add(x.Engine, x.Levels)
		} else if x.Source == "" {
			t.Errorf("%s is impossible without a source: %s", x.ID, x.Reason)
		}
	}
	if len(theirs) != 72 || !maps.Equal(ours, theirs) {
		t.Errorf("valid here:\n%s\nin the data set:\n%s", slices.Sorted(maps.Keys(ours)), slices.Sorted(maps.Keys(theirs)))
	}
}

// everartsName is the name of a combination in the authors' data set.
func everartsName(engine string, levels map[string]string) string {
	runtime, storage := levels["runtime"], levels["storage"]
	switch {
	case engine == "lxd":
		runtime = "lxc"
	case runtime == "kata-qemu":
		runtime = "kata-runtime"
	}
	if storage == "overlay2" {
		storage = "overlay"
	}
	name := engine + "/" + runtime + "/" + storage
	if levels["rootless"] == "yes" {
		name += "/rootless"
	}
	image, _, _ := strings.Cut(levels["image"], ":")
	return name + " " + image
}
