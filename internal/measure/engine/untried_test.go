package engine

import "testing"

// The runtime that is an engine's default is known by whatever its facts call it.
func TestUntriedRuntime(t *testing.T) {
	untried := []string{"guest", "guest-small"}
	for _, c := range []struct {
		untried []string
		facts   map[string]string
		want    bool
	}{
		{untried, map[string]string{"runtime": "usual", "runtime-path": "/usr/bin/usual", "shim": "io.example.usual.v2"}, false},
		{untried, map[string]string{"runtime": "guest"}, true},
		{untried, map[string]string{"runtime": "guest-runtime"}, true},
		{untried, map[string]string{"runtime": "io.example.guest.v2"}, true},
		{untried, map[string]string{"runtime": "io.example.guest-small.v2"}, true},
		{untried, map[string]string{"runtime": "secure", "runtime-type": "io.example.guest.v2"}, true},
		{untried, map[string]string{"runtime": "secure", "runtime-path": "/opt/guest/bin/shim-guest-v2"}, true},
		{untried, map[string]string{"runtime": "/opt/guest/bin/usual"}, false},
		{untried, map[string]string{"runtime": "guests"}, false},
		{nil, map[string]string{"runtime": "guest"}, false},
		{untried, nil, false},
	} {
		if got := UntriedRuntime(c.untried, c.facts); got != c.want {
			t.Errorf("%v: %v, want %v", c.facts, got, c.want)
		}
	}
}
