//go:build linux

package cli

import "testing"

func TestOneVersion(t *testing.T) {
	for _, c := range []struct {
		a, b string
		one  bool
	}{
		{versionLine(), versionLine(), true},
		{"plimsoll 1.2.0 (0123456789ab), record format 3, go1.26, linux/arm64", "plimsoll 1.2.0 (0123456789ab), record format 3, go1.25, linux/amd64", true},
		{"plimsoll 1.2.0 (0123456789ab), record format 3", "plimsoll 1.2.0, record format 3", true},
		{"plimsoll 1.2.0 (0123456789ab)", "plimsoll 1.2.0 (ba9876543210)", false},
		{"plimsoll 1.2.0", "plimsoll 1.2.1", false},
		{"something else", "plimsoll 1.2.0", false},
		{"", "plimsoll 1.2.0", false},
	} {
		if got := oneVersion(c.a, c.b); got != c.one {
			t.Errorf("%q and %q: %v", c.a, c.b, got)
		}
	}
}
