//go:build linux

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/study"
)

// A plan says beforehand what a machine has no room for.
func TestFeasible(t *testing.T) {
	s, err := newSetting(System())
	require.NoError(t, err)
	plenty := room{cpus: 64, memory: 1 << 40, disk: 1 << 42, dir: "/var"}
	there := func(string) (bool, string, string) { return true, "", "" }
	for _, c := range []struct {
		name, study string
		room        room
		pulls       func(string) (bool, string, string)
		gone, stays string // an environment, with a workload behind a blank
		reason      string
	}{
		{"plenty", "silva2024", plenty, there, "", "docker", ""},
		{"fewer processors than Docker takes", "silva2024", room{cpus: 2}, there, "docker", "lxd", "Docker refuses more than the 2"},
		{"no room for 20 GB", "abraham2020", room{disk: 10 << 30, dir: "/var"}, there, "docker/cli sysbench-fileio/size-20g", "docker/cli hello", "20480 MiB on disk, and 10240 are free below /var"},
		{"a registry that does not answer", "baresi2024", plenty, func(ref string) (bool, string, string) {
			return !strings.Contains(ref, "centos"), "no registry", ""
		}, "docker/cli pull/centos", "docker/cli pull/ubuntu", "no registry"},
	} {
		st, err := study.Load(c.study, s.studyCatalogue())
		require.NoError(t, err)
		p, err := study.Expand(st, s.studyCatalogue(), study.Options{})
		require.NoError(t, err)
		before := len(p.Excluded)
		require.NoError(t, s.feasible(p, c.room, c.pulls))
		if c.gone == "" && len(p.Excluded) != before {
			t.Errorf("%s: %+v", c.name, p.Excluded[before:])
		}
		if !runsIn(p, c.stays) || c.gone != "" && runsIn(p, c.gone) {
			t.Errorf("%s: %s should run, and %q not", c.name, c.stays, c.gone)
		}
		said := ""
		for _, x := range p.Excluded {
			if x.Kind == study.Unavailable && strings.Contains(x.Reason, c.reason) {
				said = x.Reason
			}
		}
		if c.gone != "" && said == "" {
			t.Errorf("%s: no reason says %q: %+v", c.name, c.reason, p.Excluded)
		}
	}
}

// A CPU limit of one environment is held against the machine, and against what
// its workloads need, there alone.
func TestFeasibleOwnLimit(t *testing.T) {
	s, err := newSetting(System())
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "own.yaml")
	text := "plimsoll: 1\nname: own\nprotocol: {limits: {cpus: none}}\nworkloads: [hello]\nenvironments: [{engine: docker, cpu-limit: [default, 0.5, 4]}]\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	st, err := study.Load(path, s.studyCatalogue())
	require.NoError(t, err)
	p, err := study.Expand(st, s.studyCatalogue(), study.Options{})
	require.NoError(t, err)
	require.NoError(t, s.feasible(p, room{cpus: 2}, func(string) (bool, string, string) { return true, "", "" }))
	if !runsIn(p, "docker hello") || !runsIn(p, "docker/cpu-limit-0.5 hello") || runsIn(p, "docker/cpu-limit-4 hello") {
		t.Errorf("with 2 processors: %+v", p.Cells)
	}
	for _, e := range p.Environments {
		want := map[string]float64{"docker": 0, "docker/cpu-limit-0.5": 0.5}[e.ID]
		if got := limitsOf(p, e).CPUs; e.Engine == "docker" && got != want {
			t.Errorf("%s has a limit of %g CPUs, not %g", e.ID, got, want)
		}
	}
	for _, x := range p.Excluded {
		if x.Kind == study.Unavailable && !strings.Contains(x.Fix, "cpu-limit: 2") {
			t.Errorf("the fix of %s is %q", x.ID, x.Fix)
		}
	}
}

// runsIn says whether a cell is in the plan: an environment, and a workload
// whose id begins with what is behind the blank.
func runsIn(p *study.Plan, what string) bool {
	env, work, _ := strings.Cut(what, " ")
	for _, c := range p.Cells {
		name, rest, _ := strings.Cut(work, "/")
		id := p.Workloads[c.Workload].ID
		if p.Environments[c.Env].ID == env && strings.HasPrefix(id, name) && strings.Contains(id, rest) {
			return true
		}
	}
	return false
}
