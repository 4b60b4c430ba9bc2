//go:build linux

package host

import "testing"

func TestIdentity(t *testing.T) {
	a := identity("0123456789abcdef0123456789abcdef", "machine")
	if len(a) != 32 || a != identity("0123456789abcdef0123456789abcdef", "machine") {
		t.Errorf("%q is no digest that stays the same", a)
	}
	if a == identity("0123456789abcdef0123456789abcdee", "machine") || a == identity("0123456789abcdef0123456789abcdef", "boot") {
		t.Error("another machine, or its boot, has the same digest")
	}
	if identity("", "machine") != "" || identity("uninitialized", "machine") != "" {
		t.Error("no name has a digest")
	}
	h, _ := Machine{}.Facts(t.TempDir())
	if h.Boot == "" {
		t.Error("this kernel has no boot")
	}
}
