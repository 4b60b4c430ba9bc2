//go:build linux

package host

import (
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// TestEmulated: where the processor's name alone tells what emulates it.
func TestEmulated(t *testing.T) {
	for text, want := range map[string]string{
		// Debian's user-mode-linux 6.12.
		"vendor_id\t: User Mode Linux\nmodel name\t: UML\nmode\t\t: skas\nflags\t\t: fpu tsc hypervisor\n": "uml",
		"model name\t: QEMU TCG CPU version 2.5+\nflags\t\t: fpu tsc hypervisor\n":                         "qemu",
		"model name\t: another\nflags\t\t: fpu tsc hypervisor\n":                                           "unknown hypervisor",
		"model name\t: another\nflags\t\t: fpu tsc\n":                                                      "",
	} {
		cpu, err := parseCPUInfo(strings.NewReader(text))
		require.NoError(t, err)
		if got := (Machine{Root: t.TempDir()}).hypervisor(cpu); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
