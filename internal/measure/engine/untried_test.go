package engine

import "testing"

// The runtime that is an engine's default is known by whatever its facts call it.
func TestUntriedRuntime(t *testing.T) {
	tried := Info{Levels: map[string][]string{Runtime: {"runc", "runsc", "kata", "kata-qemu"}}, Untried: map[string][]string{Runtime: {"kata", "kata-qemu"}}}
	for _, c := range []struct {
		info  Info
		facts map[string]string
		want  bool
	}{
		{tried, map[string]string{"runtime": "runc", "runtime-path": "/usr/bin/runc", "shim": "io.containerd.runc.v2"}, false},
		{tried, map[string]string{"runtime": "kata"}, true},
		{tried, map[string]string{"runtime": "kata-runtime"}, true},
		{tried, map[string]string{"runtime": "io.containerd.kata.v2"}, true},
		{tried, map[string]string{"runtime": "io.containerd.kata-qemu.v2"}, true},
		{tried, map[string]string{"runtime": "secure", "runtime-type": "io.containerd.kata.v2"}, true},
		{tried, map[string]string{"runtime": "secure", "runtime-path": "/opt/kata/bin/containerd-shim-kata-v2"}, true},
		{tried, map[string]string{"runtime": "/opt/kata/bin/crun"}, false},
		{tried, map[string]string{"runtime": "katamaran"}, false},
		{tried, map[string]string{"runtime": "runsc"}, false},
		{tried, map[string]string{"runtime": "gvisor", "runtime-program": "runsc"}, false},
		{Info{}, map[string]string{"runtime": "io.containerd.runsc.v1"}, true},
		{Info{}, map[string]string{"runtime": "lxc"}, false},
		{Info{}, nil, false},
	} {
		if got := c.info.UntriedRuntime(c.facts); got != c.want {
			t.Errorf("%v: %v, want %v", c.facts, got, c.want)
		}
	}
}
