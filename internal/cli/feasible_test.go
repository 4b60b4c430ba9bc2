//go:build linux

package cli

import (
	"strings"
	"testing"

	"plimsoll/internal/measure/study"
)

// A plan says beforehand what a machine has no room for.
func TestFeasible(t *testing.T) {
	s, err := newSetting(System())
	if err != nil {
		t.Fatal(err)
	}
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
		{"no room for 20 GB", "abraham2020", room{disk: 10 << 30, dir: "/var"}, there, "docker sysbench-fileio/size-20g", "docker hello", "20480 MiB on disk, and 10240 are free below /var"},
		{"a registry that does not answer", "baresi2024", plenty, func(ref string) (bool, string, string) {
			return !strings.Contains(ref, "centos"), "no registry", ""
		}, "docker/api pull/centos", "docker/api pull/ubuntu", "no registry"},
	} {
		st, err := study.Load(c.study, s.studyCatalogue())
		if err != nil {
			t.Fatal(err)
		}
		p, err := study.Expand(st, s.studyCatalogue(), study.Options{})
		if err != nil {
			t.Fatal(err)
		}
		before := len(p.Excluded)
		if err := s.feasible(p, c.room, c.pulls); err != nil {
			t.Fatal(err)
		}
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
