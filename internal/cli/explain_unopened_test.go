//go:build linux

package cli

import (
	"testing"

	"plimsoll/internal/record"
)

// TestUnopened: whoever asks for an engine hears of it, not of a baseline that is
// missing as well.
func TestUnopened(t *testing.T) {
	native := record.Excluded{ID: "native", Engine: "native", Reason: "chroot needs root", Fix: "sudo plimsoll …"}
	for want, all := range map[string][]record.Excluded{
		"docker can't be started here: it is down":        {native, {ID: "docker", Engine: "docker", Reason: "it is down"}},
		"b can't be started here: no b":                   {{ID: "a", Engine: "a", Reason: "no a"}, {ID: "b", Engine: "b", Reason: "no b", Fix: "install b"}, native},
		"native can't be started here: chroot needs root": {native, {ID: "floor", Engine: "floor"}},
		"it can't be started here":                        {{ID: "c", Engine: "c"}},
	} {
		if got := unopened(all); got.Error() != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
