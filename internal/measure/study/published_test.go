package study

import (
	"slices"
	"testing"

	"plimsoll/internal/common/require"
)

// The plan's own count stands beside the published one; baselines that were
// added are in neither, what can't be had here is in both.
func TestPublished(t *testing.T) {
	text := seven("[hello]", `environments:
- engine: [docker, podman]
  runtime: [runc, crun, youki]
  storage: [overlay2, vfs]
published:
  source: https://example.org/paper
  combinations: 24
  valid: 7
  difference: The paper counts images too.
`)
	p := mustExpand(t, text, Options{Usable: func(_ string, l map[string]string) (bool, string, string) {
		return l["storage"] != "vfs", "no room.", ""
	}})
	// docker has no youki, podman neither and no overlay2: docker 4, podman 2.
	want := Published{Source: "https://example.org/paper", Combinations: 24, Valid: 7, Difference: "The paper counts images too.", OurCombinations: 12, OurValid: 6}
	if p.Published == nil || *p.Published != want {
		t.Errorf("%+v, want %+v", p.Published, want)
	}
	if c := p.Counts(); c.Valid != 2+3 || c.Unavailable != 4 || c.Impossible != 6 {
		t.Errorf("%+v", c)
	}
	if p := mustExpand(t, seven("[hello]", "environments: [docker]"), Options{}); p.Published != nil {
		t.Error("nothing was published")
	}
}

// What an engine can do and its adapter can't is unavailable, a rule comes
// before that, and a lack that was mended means nothing.
func TestLacks(t *testing.T) {
	cat := catalogue()
	cat.Lacks = []Lack{
		{Engines: []string{"docker"}, Factor: "storage", Levels: []string{"zfs", "aufs", "vfs"}, Because: "The adapter of docker has no such driver yet."},
		{Factor: "runtime", Levels: []string{"kata"}, Because: "No adapter has it."},
	}
	cat.Rules = []Rule{{When: map[string][]string{"engine": {"docker"}, "storage": {"aufs"}}, Because: "It was removed.", Source: "https://example.org/"}}
	s, err := Read(Source{Path: "x.yaml", Data: []byte(seven("[hello]", "environments:\n- {engine: docker, storage: [zfs, aufs, vfs]}\n- {engine: [docker, podman, charliecloud], runtime: kata}"))}, cat)
	require.NoError(t, err)
	p, err := Expand(s, cat, Options{})
	require.NoError(t, err)
	if got := excludedIDs(p, Unavailable); !slices.Equal(got, []string{"docker/zfs", "docker/kata", "podman/kata"}) {
		t.Errorf("unavailable: %v", got)
	}
	if got := excludedIDs(p, Impossible); !slices.Equal(got, []string{"docker/aufs", "charliecloud/kata"}) {
		t.Errorf("impossible: %v", got)
	}
	if !slices.Contains(envIDs(p), "docker/vfs") {
		t.Errorf("%v", envIDs(p))
	}
}
