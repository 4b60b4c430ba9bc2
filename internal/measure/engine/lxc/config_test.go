package lxc

import (
	"regexp"
	"slices"
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host/proc"
)

// LXC 7 refuses a file that has a key of cgroup version 1 ("Failed to load rcfile").
func TestLimitsAreWrittenForTheMachinesVersion(t *testing.T) {
	v1 := []string{"lxc.cgroup.cpu.cfs_period_us = 100000", "lxc.cgroup.cpu.cfs_quota_us = 150000", "lxc.cgroup.memory.limit_in_bytes = 1048576"}
	v2 := []string{"lxc.cgroup2.cpu.max = 150000 100000", "lxc.cgroup2.memory.max = 1048576"}
	unified := proc.Hierarchy{Mount: "/sys/fs/cgroup/unified", Unified: true}
	cpu := proc.Hierarchy{Mount: "/sys/fs/cgroup/cpu", Controllers: []string{"rw", "cpu", "cpuacct"}}
	memory := proc.Hierarchy{Mount: "/sys/fs/cgroup/memory", Controllers: []string{"rw", "memory"}}
	spec := engine.Spec{Limits: engine.Limits{CPUs: 1.5, MemoryBytes: 1 << 20}}
	for name, c := range map[string]struct {
		groups []proc.Hierarchy
		want   []string
	}{
		"v1":                          {[]proc.Hierarchy{cpu, memory}, v1},
		"v2":                          {[]proc.Hierarchy{unified}, v2},
		"hybrid":                      {[]proc.Hierarchy{unified, cpu, memory}, v1},
		"hybrid, memory on version 2": {[]proc.Hierarchy{unified, cpu}, []string{v1[0], v1[1], v2[1]}},
	} {
		got := regexp.MustCompile(`(?m)^lxc\.cgroup.*$`).FindAllString(config(spec, false, c.groups), -1)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
