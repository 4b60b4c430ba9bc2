package lxc

import (
	"errors"
	"regexp"
	"slices"
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// LXC 7 refuses a file that has a key of cgroup version 1 ("Failed to load rcfile").
func TestLimitsAreWrittenForTheMachinesVersion(t *testing.T) {
	v1 := []string{"lxc.cgroup.cpu.cfs_period_us = 100000", "lxc.cgroup.cpu.cfs_quota_us = 150000", "lxc.cgroup.memory.limit_in_bytes = 1048576"}
	v2 := []string{"lxc.cgroup2.cpu.max = 150000 100000", "lxc.cgroup2.memory.max = 1048576"}
	unified := proc.Hierarchy{Mount: "/sys/fs/cgroup/unified", Unified: true}
	cpu := proc.Hierarchy{Mount: "/sys/fs/cgroup/cpu", Controllers: []string{"rw", "cpu", "cpuacct"}}
	memory := proc.Hierarchy{Mount: "/sys/fs/cgroup/memory", Controllers: []string{"rw", "memory"}}
	both := engine.Limits{CPUs: 1.5, MemoryBytes: 1 << 20}
	for name, c := range map[string]struct {
		groups  []proc.Hierarchy
		limits  engine.Limits
		want    []string // of LXC 4 to 6
		seven   []string
		refused bool // by LXC 7
	}{
		"v1":                          {[]proc.Hierarchy{cpu, memory}, both, v1, nil, true},
		"v2":                          {[]proc.Hierarchy{unified}, both, v2, v2, false},
		"hybrid":                      {[]proc.Hierarchy{unified, cpu, memory}, both, v1, nil, true},
		"hybrid, memory on version 2": {[]proc.Hierarchy{unified, cpu}, both, []string{v1[0], v1[1], v2[1]}, nil, true},
		"hybrid, limited on version 2": {[]proc.Hierarchy{unified, cpu}, engine.Limits{MemoryBytes: 1 << 20},
			v2[1:], v2[1:], false},
		"v1, no limits": {[]proc.Hierarchy{cpu, memory}, engine.Limits{}, nil, nil, false},
	} {
		for _, version := range []string{"4.0.12", "5.0.2", "6.0.4", "7.0.0"} {
			want, refused := c.want, false
			if version == "7.0.0" {
				want, refused = c.seven, c.refused
			}
			keys, err := limitKeys(c.limits, version, c.groups)
			if e, ok := errors.AsType[*engine.Error](err); ok != refused || ok && e.Class != record.Unsupported {
				t.Errorf("LXC %s, %s: the error is %v", version, name, err)
			}
			got := regexp.MustCompile(`(?m)^lxc\.cgroup.*$`).FindAllString(config(engine.Spec{Limits: c.limits}, false, keys), -1)
			if !slices.Equal(got, want) {
				t.Errorf("LXC %s, %s: %q, want %q", version, name, got, want)
			}
		}
	}
}
