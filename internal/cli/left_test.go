//go:build linux

package cli

import (
	"bytes"
	"errors"
	"testing"

	"plimsoll/internal/measure/run"
)

// What a run could not remove is named, one to a line, with what removes it.
func TestTellLeft(t *testing.T) {
	for _, c := range []struct {
		name string
		sum  *run.Summary
		want string
	}{
		{"never begun", nil, ""},
		{"nothing", &run.Summary{}, ""},
		{"a cgroup and a store", &run.Summary{Residue: []string{"cgroup /x"}, Unclean: errors.Join(errors.New("closing a: busy"), errors.New("closing b: busy"))},
			"left behind: cgroup /x\ncleaning up: closing a: busy\ncleaning up: closing b: busy\nplimsoll clean removes what a run left behind\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			tellLeft(World{Stderr: &out}, c.sum)
			if got := c.sum.Left(); got != (c.want != "") || out.String() != c.want {
				t.Errorf("%t, %q; want %q", got, out.String(), c.want)
			}
		})
	}
}
