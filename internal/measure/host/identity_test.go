//go:build linux

package host

import "testing"

func TestIdentity(t *testing.T) {
	h, _ := Machine{}.Facts(t.TempDir())
	if h.Boot == "" {
		t.Error("this kernel has no boot")
	}
}
